/** ConfigMaps, Secrets, ServiceAccounts and Services (upstream `printConfigMap` and its neighbours). */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { mapAt, mapsAt, numberAt, textAt, textsAt } from '../select-field.ts';
import { ageColumn, column, nameColumn, numberColumn, type PrintedColumn, wideColumn } from './describe-columns.ts';
import { balancerAddresses } from './describe-endpoints.ts';
import { describeLabels } from './describe-pod-template.ts';

function dataColumn(...fields: readonly string[]): PrintedColumn {
  return numberColumn('Data', 'Number of entries.', (object) =>
    fields.reduce((sum, field) => sum + Object.keys(mapAt(object, field)).length, 0),
  );
}

export const configMapColumns: readonly PrintedColumn[] = [nameColumn, dataColumn('data', 'binaryData'), ageColumn];

export const secretColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Type', 'What the entries are for.', (secret) => textAt(secret, 'type')),
  dataColumn('data'),
  ageColumn,
];

export const serviceAccountColumns: readonly PrintedColumn[] = [nameColumn, ageColumn];

export const serviceColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Type', 'How the Service is exposed.', (service) => textAt(service, 'spec', 'type')),
  column(
    'Cluster-IP',
    'Address within the cluster.',
    (service) => textsAt(service, 'spec', 'clusterIPs')[0] ?? '<none>',
  ),
  column('External-IP', 'Addresses outside of the cluster.', describeExternalAddress),
  column('Port(s)', 'Ports and protocols.', describePorts),
  ageColumn,
  wideColumn('Selector', 'Labels of its pods.', (service) => describeLabels(mapAt(service, 'spec', 'selector'))),
];

function describeExternalAddress(service: JsonMap): string {
  const given = textsAt(service, 'spec', 'externalIPs');
  const type = textAt(service, 'spec', 'type');
  if (type === 'ExternalName') return textAt(service, 'spec', 'externalName');
  if (type === 'ClusterIP' || type === 'NodePort') return given.join(',') || '<none>';
  if (type !== 'LoadBalancer') return '<unknown>';
  return [...balancerAddresses(service), ...given].join(',') || '<pending>';
}

function describePorts(service: JsonMap): string {
  const ports = mapsAt(service, 'spec', 'ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    return `${numberAt(port, 'port')}${nodePort > 0 ? `:${nodePort}` : ''}/${textAt(port, 'protocol')}`;
  });
  return ports.join(',') || '<none>';
}
