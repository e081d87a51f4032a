/** Services (upstream `SetDefaults_Service`, `pkg/registry/core/service/storage/alloc.go`, `ValidateService`). */
import { sameJson } from '../../api/same-json.ts';
import { isDnsLabel } from '../../api/names.ts';
import { invalid } from '../api-errors/api-errors.ts';
import { type FieldError, invalidField, requiredField, unsupportedField } from '../api-errors/field-errors.ts';
import type { KindRules } from '../registry/plain-strategy.ts';
import type { WriteContext } from '../registry/strategy.ts';
import { isMap, mapsAt, type MutableJsonMap, numberAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { fillIn, fillZero } from './fill-in.ts';
import { ServiceAllocations } from './service-addresses.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] as const;
const affinitySeconds = 10_800;
const portMax = 65_535;

export const serviceRules: KindRules = {
  hasGeneration: false,
  returnsDeleted: true,
  isName: isDnsLabel,
  initialStatus: { loadBalancer: {} },
  setDefaults: defaultService,
  prepareNew: (draft, context) => allocate(draft, new ServiceAllocations(context, undefined)),
  prepareChange: (draft, stored, endpoint, context) => {
    if (endpoint === '') changeAllocations(draft, stored, context);
  },
  validate: validateService,
  validateUpdate: validateAddressKept,
  fieldLabels: { labels: ['metadata.name', 'metadata.namespace', 'spec.clusterIP', 'spec.type'] },
  fieldsOf: ({ spec }) => ({ 'spec.clusterIP': textAt(spec, 'clusterIP'), 'spec.type': textAt(spec, 'type') }),
};

function defaultService(draft: Draft): void {
  const spec = (draft.spec ??= {});
  fillZero(spec, { type: 'ClusterIP', sessionAffinity: 'None' });
  const type = textAt(spec, 'type');
  for (const port of mapsAt(spec, 'ports')) fillZero(port, { protocol: 'TCP', targetPort: port['port'] });
  if (spec['sessionAffinity'] === 'ClientIP') {
    fillIn(spec, { sessionAffinityConfig: { clientIP: { timeoutSeconds: affinitySeconds } } });
  } else delete spec['sessionAffinityConfig'];
  if (type !== 'ExternalName') fillIn(spec, { internalTrafficPolicy: 'Cluster' });
  if (usesNodePorts(spec)) fillIn(spec, { externalTrafficPolicy: 'Cluster' });
  if (type !== 'LoadBalancer') return;
  fillIn(spec, { allocateLoadBalancerNodePorts: true });
  for (const ingress of mapsAt(draft.status, 'loadBalancer', 'ingress')) {
    if (textAt(ingress, 'ip') !== '') fillIn(ingress, { ipMode: 'VIP' });
  }
}

function usesNodePorts(spec: MutableJsonMap): boolean {
  return spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer';
}

function allocatesNodePorts(spec: MutableJsonMap): boolean {
  return (
    spec['type'] === 'NodePort' || (spec['type'] === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] === true)
  );
}

/** Throws a 422 ApiError for an address or a port that is not free. */
function allocate(draft: Draft, free: ServiceAllocations): void {
  const spec = (draft.spec ??= {});
  const errors = [...setAddress(spec, free), ...setNodePorts(spec, free)];
  if (errors.length > 0) throw invalid({ group: '', name: 'Service' }, draft.metadata.name ?? '', errors);
}

function setAddress(spec: MutableJsonMap, free: ServiceAllocations): readonly FieldError[] {
  if (spec['type'] === 'ExternalName') return [];
  const chosen = textAt(spec, 'clusterIP') || firstText(spec['clusterIPs']);
  const address = chosen === '' ? free.nextAddress() : chosen;
  setFamilies(spec, address === 'None' && !isMap(spec['selector']));
  spec['clusterIP'] = address;
  spec['clusterIPs'] = [address];
  const why = chosen === '' || chosen === 'None' ? undefined : free.takeAddress(chosen);
  return why === undefined
    ? []
    : [invalidField('spec.clusterIPs', [chosen], `failed to allocate IP ${chosen}: ${why}`)];
}

/** The endpoints of a Service without addresses and without selector may be of both families. */
function setFamilies(spec: MutableJsonMap, isBare: boolean): void {
  fillIn(spec, { ipFamilyPolicy: isBare ? 'RequireDualStack' : 'SingleStack' });
  const isDual = isBare && spec['ipFamilyPolicy'] !== 'SingleStack';
  fillIn(spec, { ipFamilies: isDual ? ['IPv4', 'IPv6'] : ['IPv4'] });
}

function firstText(list: unknown): string {
  return Array.isArray(list) && typeof list[0] === 'string' ? list[0] : '';
}

function setNodePorts(spec: MutableJsonMap, free: ServiceAllocations): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, port] of mapsAt(spec, 'ports').entries()) {
    const chosen = numberAt(port, 'nodePort');
    if (chosen === 0 && allocatesNodePorts(spec)) port['nodePort'] = free.nextPort();
    const why = chosen === 0 ? undefined : free.takePort(chosen);
    if (why !== undefined) errors.push(invalidField(`spec.ports[${index}].nodePort`, chosen, why));
  }
  if (spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local') {
    fillIn(spec, { healthCheckNodePort: free.nextPort() });
  }
  return errors;
}

/** What was allocated stays while the type needs it (upstream `patchAllocatedValues`, `dropTypeDependentFields`). */
function changeAllocations(draft: Draft, stored: Draft, context: WriteContext): void {
  const [spec, before] = [(draft.spec ??= {}), stored.spec ?? {}];
  if (spec['type'] === 'ExternalName') dropAddresses(spec, before);
  else if (before['type'] !== 'ExternalName') {
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'])
      fillIn(spec, { [field]: before[field] });
  }
  if (usesNodePorts(spec)) keepNodePorts(spec, before);
  else dropNodePorts(spec, before);
  if (sameJson(spec, before)) return;
  allocate(draft, new ServiceAllocations(context, stored.metadata.uid));
}

function dropAddresses(spec: MutableJsonMap, before: MutableJsonMap): void {
  for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']) {
    if (sameJson(spec[field], before[field])) delete spec[field];
  }
}

function keepNodePorts(spec: MutableJsonMap, before: MutableJsonMap): void {
  fillIn(spec, { healthCheckNodePort: before['healthCheckNodePort'] });
  for (const port of mapsAt(spec, 'ports')) {
    const same = mapsAt(before, 'ports').find(
      (old) => old['port'] === port['port'] && old['protocol'] === port['protocol'],
    );
    if (same?.['nodePort'] !== undefined) fillIn(port, { nodePort: same['nodePort'] });
  }
}

function dropNodePorts(spec: MutableJsonMap, before: MutableJsonMap): void {
  const known = mapsAt(before, 'ports').map((port) => port['nodePort']);
  for (const port of mapsAt(spec, 'ports')) if (known.includes(port['nodePort'])) delete port['nodePort'];
  for (const field of ['externalTrafficPolicy', 'allocateLoadBalancerNodePorts', 'healthCheckNodePort']) {
    if (sameJson(spec[field], before[field])) delete spec[field];
  }
}

function validateService({ spec = {} }: Draft): readonly FieldError[] {
  const ports = mapsAt(spec, 'ports');
  const errors: FieldError[] = [];
  if (!types.some((type) => type === spec['type'])) errors.push(unsupportedField('spec.type', spec['type'], types));
  if (ports.length === 0 && spec['type'] !== 'ExternalName' && spec['clusterIP'] !== 'None') {
    errors.push(requiredField('spec.ports'));
  }
  if (spec['type'] === 'ExternalName' && textAt(spec, 'externalName') === '')
    errors.push(requiredField('spec.externalName'));
  return [...errors, ...ports.flatMap((port, index) => validatePort(port, `spec.ports[${index}]`, ports.length > 1))];
}

function validatePort(port: MutableJsonMap, path: string, isNamed: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (isNamed && textAt(port, 'name') === '') errors.push(requiredField(`${path}.name`));
  for (const field of ['port', 'targetPort']) {
    const number = port[field];
    if (typeof number !== 'number' || (number >= 1 && number <= portMax)) continue;
    errors.push(invalidField(`${path}.${field}`, number, `must be between 1 and ${portMax}, inclusive`));
  }
  return errors;
}

function validateAddressKept(draft: Draft, stored: Draft): readonly FieldError[] {
  const [after, before] = [draft.spec ?? {}, stored.spec ?? {}];
  const unbound = [after, before].some((spec) => spec['type'] === 'ExternalName') || textAt(before, 'clusterIP') === '';
  if (unbound || after['clusterIP'] === before['clusterIP']) return [];
  return [invalidField('spec.clusterIPs[0]', after['clusterIPs'], 'may not change once set')];
}
