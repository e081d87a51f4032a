/** Services (upstream `SetDefaults_Service`, `pkg/registry/core/service/storage`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import { invalid } from '../api-errors/api-errors.ts';
import { type FieldError, invalidField } from '../api-errors/field-errors.ts';
import type { KindRules } from '../registry/plain-strategy.ts';
import type { Endpoint, WriteContext } from '../registry/strategy.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, numberAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { explainLabel } from '../validation/formats.ts';
import { fillAt, fillIn, fillZero } from './fill-in.ts';
import { ServiceAllocations } from './service-addresses.ts';
import {
  addressesOf,
  needsHealthCheck,
  validateAddresses,
  validateService,
  validateServiceChange,
} from './service-validation.ts';

const affinitySeconds = 10_800;
const addressFields = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const;

export const serviceRules: KindRules = {
  hasGeneration: false,
  returnsDeleted: true,
  createsOnUpdate: true,
  explainName: explainLabel,
  initialStatus: { loadBalancer: {} },
  setDefaults: defaultService,
  completeKept,
  prepareNew: (draft, context) => {
    pairAddresses(draft.spec ?? {}, undefined);
    allocate(draft, new ServiceAllocations(context, undefined), true);
  },
  prepareChange,
  validateSpec: validateService,
  validateChange: validateServiceChange,
  fieldLabels: { labels: ['metadata.name', 'metadata.namespace', 'spec.clusterIP', 'spec.type'] },
  fieldsOf: ({ spec }) => ({ 'spec.clusterIP': textAt(spec, 'clusterIP'), 'spec.type': textAt(spec, 'type') }),
};

function defaultService(draft: Draft): void {
  const spec = (draft.spec ??= {});
  fillZero(spec, { type: 'ClusterIP', sessionAffinity: 'None' });
  const type = textAt(spec, 'type');
  for (const port of mapsAt(spec, 'ports')) fillZero(port, { protocol: 'TCP', targetPort: port['port'] });
  if (spec['sessionAffinity'] === 'ClientIP') {
    const ofClients = fillIn(spec, { sessionAffinityConfig: {} });
    fillIn(mapAt(ofClients, 'sessionAffinityConfig'), { clientIP: {} });
    fillAt(spec, ['sessionAffinityConfig', 'clientIP'], { timeoutSeconds: affinitySeconds });
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

/** `clusterIP` and the first of `clusterIPs` are one value; a client may change one of them (upstream `NormalizeClusterIPs`). */
function pairAddresses(spec: MutableJsonMap, before: MutableJsonMap | undefined): void {
  const [single, list] = [textAt(spec, 'clusterIP'), addressesOf(spec)];
  if (before === undefined) {
    if (single !== '' && list.length === 0) spec['clusterIPs'] = [single];
    return;
  }
  const changed = single !== textAt(before, 'clusterIP');
  if (!changed || !sameJson(spec['clusterIPs'], before['clusterIPs'])) return;
  if (single === '') delete spec['clusterIPs'];
  else spec['clusterIPs'] = [single, ...list.slice(1)];
}

/**
 * Services of before the lists of addresses and families (upstream `defaultOnReadService`). Earlier versions of this server
 * allocated nothing: they wrote `None` as the only item of the list, and for types that need an address too.
 */
function completeKept({ spec }: Draft): void {
  if (spec === undefined) return;
  if (spec['type'] === 'ExternalName') {
    if (addressesOf(spec)[0] === 'None') delete spec['internalTrafficPolicy'];
  } else if (usesNodePorts(spec) && spec['clusterIP'] === 'None') {
    // It gets an address by its next change.
    for (const field of addressFields) delete spec[field];
    setFamilies(spec);
  } else completeAddresses(spec);
}

function completeAddresses(spec: MutableJsonMap): void {
  const single = textAt(spec, 'clusterIP');
  if (single !== '' && single !== addressesOf(spec)[0]) spec['clusterIPs'] = [single];
  if (single !== '' && single !== 'None') completeFamilies(spec);
  else if (listOf(spec['ipFamilies']).length === 0) setFamilies(spec);
}

/** Those of its addresses. */
function completeFamilies(spec: MutableJsonMap): void {
  const addresses = addressesOf(spec);
  spec['ipFamilies'] = addresses.map((address) => (address.includes(':') ? 'IPv6' : 'IPv4'));
  fillIn(spec, { ipFamilyPolicy: addresses.length > 1 ? 'RequireDualStack' : 'SingleStack' });
}

/** Throws a 422 ApiError for an address or a port that is not free. */
function allocate(draft: Draft, free: ServiceAllocations, needsAddress: boolean): void {
  const spec = (draft.spec ??= {});
  assertNone(draft, setFamilies(spec));
  if (needsAddress) assertNone(draft, setAddress(spec, free));
  assertNone(draft, setNodePorts(spec, free));
}

function assertNone(draft: Draft, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: '', name: 'Service' }, draft.metadata.name ?? '', errors);
}

/** The server has IPv4 addresses only; the endpoints of a Service without address and selector may be of both families. */
function setFamilies(spec: MutableJsonMap): readonly FieldError[] {
  if (spec['type'] === 'ExternalName') return [];
  const isBare = spec['clusterIP'] === 'None' && !isMap(spec['selector']);
  fillIn(spec, { ipFamilyPolicy: isBare ? 'RequireDualStack' : 'SingleStack' });
  const errors = validateAddresses(spec);
  if (errors.length > 0) return errors;
  const policy = spec['ipFamilyPolicy'];
  if (isBare) {
    fillIn(spec, { ipFamilies: ['IPv4'] });
    const [first, ...more] = listOf(spec['ipFamilies']);
    if (policy !== 'SingleStack' && more.length === 0) {
      spec['ipFamilies'] = [first, first === 'IPv4' ? 'IPv6' : 'IPv4'];
    }
    return [];
  }
  const given = listOf(spec['ipFamilies']);
  const dual = 'this cluster is not configured for dual-stack services';
  fillIn(spec, { ipFamilies: ['IPv4'] });
  return [
    ...(policy === 'RequireDualStack' ? [invalidField('spec.ipFamilyPolicy', policy, dual)] : []),
    ...given.flatMap((family, index) =>
      family === 'IPv4' ? [] : [invalidField(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
    ),
  ];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function setAddress(spec: MutableJsonMap, free: ServiceAllocations): readonly FieldError[] {
  if (spec['type'] === 'ExternalName') return [];
  const chosen = textAt(spec, 'clusterIP');
  if (chosen === 'None') return [];
  if (chosen !== '') {
    const why = free.takeAddress(chosen);
    const detail = `failed to allocate IP ${chosen}: ${why}`;
    return why === undefined ? [] : [invalidField('spec.clusterIPs', [chosen], detail)];
  }
  const address = free.nextAddress();
  if (address === undefined) return [invalidField('spec.clusterIPs', [], 'failed to allocate IP: range is full')];
  spec['clusterIP'] = address;
  spec['clusterIPs'] = [address];
  return [];
}

function setNodePorts(spec: MutableJsonMap, free: ServiceAllocations): readonly FieldError[] {
  for (const [index, port] of mapsAt(spec, 'ports').entries()) {
    const chosen = usesNodePorts(spec) ? numberAt(port, 'nodePort') : 0;
    if (chosen === 0) continue;
    const why = free.takePort(chosen, textAt(port, 'protocol'));
    if (why !== undefined) return [invalidField(`spec.ports[${index}].nodePort`, chosen, why)];
  }
  if (allocatesNodePorts(spec)) {
    for (const port of mapsAt(spec, 'ports')) fillZero(port, { nodePort: free.nextPort() });
  }
  if (needsHealthCheck(spec)) fillZero(spec, { healthCheckNodePort: free.nextPort() });
  return [];
}

/** What was allocated stays while the type needs it (upstream `patchAllocatedValues`, `dropTypeDependentFields`). */
function prepareChange(draft: Draft, stored: Draft, endpoint: Endpoint, context: WriteContext): void {
  if (endpoint !== '') return;
  const [spec, before] = [(draft.spec ??= {}), stored.spec ?? {}];
  pairAddresses(spec, before);
  keepAllocated(spec, before);
  // The status may be that of the stored object.
  if (spec['type'] !== 'LoadBalancer') draft.status = { ...draft.status, loadBalancer: {} };
  if (sameJson(spec, before) && isAllocated(spec)) return;
  // Validation rejects another address than the one that was allocated.
  const needsAddress = before['type'] === 'ExternalName' || textAt(before, 'clusterIP') === '';
  allocate(draft, new ServiceAllocations(context, stored.metadata.uid), needsAddress);
}

/** False for what an earlier version stored without allocating. */
function isAllocated(spec: MutableJsonMap): boolean {
  if (spec['type'] !== 'ExternalName' && textAt(spec, 'clusterIP') === '') return false;
  return !needsHealthCheck(spec) || numberAt(spec, 'healthCheckNodePort') !== 0;
}

function keepAllocated(spec: MutableJsonMap, before: MutableJsonMap): void {
  if (spec['type'] === 'ExternalName') dropAddresses(spec, before);
  else if (before['type'] !== 'ExternalName') {
    for (const field of addressFields) fillIn(spec, { [field]: before[field] });
  }
  if (usesNodePorts(spec)) keepNodePorts(spec, before);
  else dropNodePorts(spec, before);
  if (spec['type'] === 'LoadBalancer') return;
  dropSame(spec, before, ['allocateLoadBalancerNodePorts', 'healthCheckNodePort', 'loadBalancerClass']);
}

function dropAddresses(spec: MutableJsonMap, before: MutableJsonMap): void {
  dropSame(spec, before, addressFields);
}

function dropSame(spec: MutableJsonMap, before: MutableJsonMap, fields: readonly string[]): void {
  for (const field of fields) if (sameJson(ownValue(spec, field), ownValue(before, field))) delete spec[field];
}

/** By the name of the port. */
function keepNodePorts(spec: MutableJsonMap, before: MutableJsonMap): void {
  if (!usesNodePorts(before)) return;
  fillIn(spec, { healthCheckNodePort: needsHealthCheck(spec) ? before['healthCheckNodePort'] : undefined });
  const used = new Set(mapsAt(spec, 'ports').map((port) => numberAt(port, 'nodePort')));
  for (const port of mapsAt(spec, 'ports')) {
    const old = mapsAt(before, 'ports').find((other) => textAt(other, 'name') === textAt(port, 'name'));
    const nodePort = numberAt(old, 'nodePort');
    if (nodePort !== 0 && !used.has(nodePort)) fillZero(port, { nodePort });
  }
}

function dropNodePorts(spec: MutableJsonMap, before: MutableJsonMap): void {
  const known = mapsAt(before, 'ports').map((port) => port['nodePort']);
  for (const port of mapsAt(spec, 'ports')) if (known.includes(port['nodePort'])) delete port['nodePort'];
  dropSame(spec, before, ['externalTrafficPolicy']);
}
