/** The group networking.k8s.io (upstream `printIngress` and its neighbours). */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { isMap, mapAt, mapsAt, textAt, textsAt, valueAt } from '../select-field.ts';
import { ageColumn, column, nameColumn, type PrintedColumn } from './describe-columns.ts';
import { balancerAddresses } from './describe-endpoints.ts';
import { describeSelector } from './describe-pod-template.ts';

/** So many hosts of an Ingress are printed. */
const hostsMax = 3;
const defaultClassAnnotation = 'ingressclass.kubernetes.io/is-default-class';

export const ingressColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Class', 'Name of its IngressClass.', (ingress) => {
    const name = valueAt(ingress, 'spec', 'ingressClassName');
    return typeof name === 'string' ? name : '<none>';
  }),
  column('Hosts', 'Hosts of its rules; * is any.', (ingress) => describeHosts(mapsAt(ingress, 'spec', 'rules'))),
  column('Address', 'Addresses of its load balancer.', (ingress) => balancerAddresses(ingress).join(',')),
  column('Ports', 'The port of HTTP, and that of HTTPS if it has TLS.', (ingress) =>
    mapsAt(ingress, 'spec', 'tls').length > 0 ? '80, 443' : '80',
  ),
  ageColumn,
];

export const ingressClassColumns: readonly PrintedColumn[] = [
  {
    ...nameColumn,
    cell: (ingressClass) => {
      const isDefault = textAt(ingressClass, 'metadata', 'annotations', defaultClassAnnotation) === 'true';
      return `${textAt(ingressClass, 'metadata', 'name')}${isDefault ? ' (default)' : ''}`;
    },
  },
  column('Controller', 'Name of the controller of its Ingresses.', (ingressClass) =>
    textAt(ingressClass, 'spec', 'controller'),
  ),
  column('Parameters', 'Object with the configuration of the controller.', describeParameters),
  ageColumn,
];

export const networkPolicyColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Pod-Selector', 'Label selector of the pods to which it applies.', (policy) =>
    describeSelector(mapAt(policy, 'spec', 'podSelector')),
  ),
  ageColumn,
];

export const serviceCidrColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('CIDRs', 'Ranges of the addresses of Services.', (range) => textsAt(range, 'spec', 'cidrs').join(',')),
  ageColumn,
];

export const ipAddressColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('ParentRef', 'Object that has the address.', describeParent),
  { ...ageColumn, undefinedInTable: true },
];

/** Rules without a host count as more if they follow the last host that is printed. */
function describeHosts(rules: readonly JsonMap[]): string {
  const withHost = [...rules.entries()].filter(([, rule]) => textAt(rule, 'host') !== '').slice(0, hostsMax);
  if (withHost.length === 0) return '*';
  const hosts = withHost.map(([, rule]) => textAt(rule, 'host')).join(',');
  const [lastShown = 0] = withHost[hostsMax - 1] ?? [rules.length];
  return lastShown < rules.length - 1 ? `${hosts} + ${rules.length - hostsMax} more...` : hosts;
}

function describeParameters(ingressClass: JsonMap): string {
  const parameters = valueAt(ingressClass, 'spec', 'parameters');
  if (!isMap(parameters)) return '<none>';
  const { apiGroup } = parameters;
  const group = typeof apiGroup === 'string' ? `.${apiGroup}` : '';
  return `${textAt(parameters, 'kind')}${group}/${textAt(parameters, 'name')}`;
}

function describeParent(address: JsonMap): string {
  const parent = valueAt(address, 'spec', 'parentRef');
  if (!isMap(parent)) return '<none>';
  const resource = joined('.', textAt(parent, 'resource'), textAt(parent, 'group')).toLowerCase();
  return `${joined('/', resource, textAt(parent, 'namespace'))}/${textAt(parent, 'name')}`;
}

/** The second part is left out if it is empty. */
function joined(separator: string, first: string, second: string): string {
  return second === '' ? first : `${first}${separator}${second}`;
}
