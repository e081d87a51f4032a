/** What Services must be (upstream `ValidateServiceCreate`, `ValidateServiceUpdate`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../api-errors/field-errors.ts';
import { mapAt, mapsAt, type MutableJsonMap, numberAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { checkFormat, checkLabels, checkOneOf, checkOptional, checkPort } from '../validation/field-checks.ts';
import { findRepeated } from '../validation/find-repeated.ts';
import {
  explainAddress,
  explainEndpointAddress,
  explainLabel,
  explainNetwork,
  explainPort,
  explainQualifiedName,
  explainSubdomain,
} from '../validation/formats.ts';
import { isIpv6 } from '../validation/ip-addresses.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] as const;
const protocols = ['SCTP', 'TCP', 'UDP'] as const;
const families = ['IPv4', 'IPv6'] as const;
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'] as const;
const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'] as const;
const trafficPolicies = ['Cluster', 'Local'] as const;
const affinitySecondsMax = 86_400;
const ofBalancers = "may only be used when `type` is 'LoadBalancer'";
const ofNames = 'may not be set for ExternalName services';

export function addressesOf(spec: MutableJsonMap): readonly string[] {
  const { clusterIPs } = spec;
  return Array.isArray(clusterIPs) ? clusterIPs.map(String) : [];
}

function isHeadless(spec: MutableJsonMap): boolean {
  const [address, ...more] = addressesOf(spec);
  return address === 'None' && more.length === 0;
}

/** By node ports or a load balancer, or at external addresses. */
function isExternal(spec: MutableJsonMap): boolean {
  const { externalIPs } = spec;
  const hasAddresses = spec['type'] === 'ClusterIP' && Array.isArray(externalIPs) && externalIPs.length > 0;
  return spec['type'] === 'LoadBalancer' || spec['type'] === 'NodePort' || hasAddresses;
}

export function needsHealthCheck(spec: MutableJsonMap): boolean {
  return spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local';
}

export function validateService({ spec = {} }: Draft): readonly FieldError[] {
  return [
    ...validateType(spec),
    ...validatePorts(spec),
    ...checkLabels('spec.selector', spec['selector']),
    ...validateAffinity(spec),
    ...validateAddresses(spec),
    ...validateExternalAddresses(spec),
    ...checkOneOf(spec, 'type', 'spec', types),
    ...validateBalancer(spec),
    ...validateTrafficPolicies(spec),
    ...checkOneOf(spec, 'trafficDistribution', 'spec', distributions),
  ];
}

function validateType(spec: MutableJsonMap): readonly FieldError[] {
  const type = textAt(spec, 'type');
  const errors: FieldError[] = [];
  if (mapsAt(spec, 'ports').length === 0 && !isHeadless(spec) && type !== 'ExternalName') {
    errors.push(requiredField('spec.ports'));
  }
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    errors.push(invalidField('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  }
  return type === 'ExternalName' ? [...errors, ...validateExternalName(spec)] : errors;
}

function validateExternalName(spec: MutableJsonMap): readonly FieldError[] {
  const name = textAt(spec, 'externalName').replace(/\.$/, '');
  return [
    ...['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']
      .filter((field) => ownValue(spec, field) !== undefined)
      .map((field) => forbiddenField(`spec.${field}`, ofNames)),
    ...(name === '' ? [requiredField('spec.externalName')] : checkFormat('spec.externalName', name, explainSubdomain)),
  ];
}

function validatePorts(spec: MutableJsonMap): readonly FieldError[] {
  const ports = mapsAt(spec, 'ports');
  const names = findRepeated(ports.map((port) => port['name']));
  const identities = findRepeated(ports.map((port) => `${textAt(port, 'protocol')}/${numberAt(port, 'port')}`));
  const nodePorts = findRepeated(ports.map((port) => `${textAt(port, 'protocol')}/${numberAt(port, 'nodePort')}`));
  return ports.flatMap((port, index) => {
    const path = `spec.ports[${index}]`;
    const nodePort = numberAt(port, 'nodePort');
    const unusable = spec['type'] === 'ClusterIP' && nodePort !== 0;
    const repeatedNodePort = nodePort !== 0 && nodePorts.has(index);
    return [
      ...validateName(port, path, { isSingle: ports.length === 1, isRepeated: names.has(index) }),
      ...validatePort(port, path),
      ...(unusable ? [forbiddenField(`${path}.nodePort`, "may not be used when `type` is 'ClusterIP'")] : []),
      ...(repeatedNodePort ? [duplicateField(`${path}.nodePort`, nodePort)] : []),
      ...(identities.has(index) ? [duplicateField(path, port)] : []),
    ];
  });
}

/** How the name of a port stands to the names of the others. */
interface NamePlace {
  readonly isSingle: boolean;
  readonly isRepeated: boolean;
}

function validateName(port: MutableJsonMap, path: string, { isSingle, isRepeated }: NamePlace): readonly FieldError[] {
  const name = textAt(port, 'name');
  const field = `${path}.name`;
  if (name === '') return isSingle ? [] : [requiredField(field)];
  return [...checkFormat(field, name, explainLabel), ...(isRepeated ? [duplicateField(field, name)] : [])];
}

function validatePort(port: MutableJsonMap, path: string): readonly FieldError[] {
  const number = numberAt(port, 'port');
  return [
    ...explainPort(number).map((message) => invalidField(`${path}.port`, number, message)),
    ...checkOneOf(port, 'protocol', path, protocols),
    ...checkPort(`${path}.targetPort`, port['targetPort']),
    ...checkOptional(port, 'appProtocol', path, explainQualifiedName),
  ];
}

function validateAffinity(spec: MutableJsonMap): readonly FieldError[] {
  const errors = checkOneOf(spec, 'sessionAffinity', 'spec', ['ClientIP', 'None']);
  if (spec['sessionAffinity'] !== 'ClientIP') return errors;
  const seconds = mapAt(spec, 'sessionAffinityConfig', 'clientIP')['timeoutSeconds'];
  const field = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
  if (typeof seconds !== 'number') return [...errors, requiredField(field)];
  if (seconds > 0 && seconds <= affinitySecondsMax) return errors;
  return [...errors, invalidField(field, seconds, `must be greater than 0 and less than ${affinitySecondsMax}`)];
}

/** Addresses and families; also before addresses are allocated (upstream `ValidateServiceClusterIPsRelatedFields`). */
export function validateAddresses(spec: MutableJsonMap): readonly FieldError[] {
  if (spec['type'] === 'ExternalName') return [];
  const addresses = addressesOf(spec);
  const malformed = validateAddressForm(addresses);
  const errors = [
    ...validateFirstAddress(textAt(spec, 'clusterIP'), addresses),
    ...validateFamilies(spec),
    ...malformed,
    ...(addresses.length > 2 ? [invalidField('spec.clusterIPs', addresses, 'may only hold up to 2 values')] : []),
  ];
  return malformed.length > 0 ? errors : [...errors, ...validateAddressFamilies(spec, addresses)];
}

function validateFirstAddress(single: string, addresses: readonly string[]): readonly FieldError[] {
  const field = 'spec.clusterIPs';
  if (single === '') {
    if (addresses.length === 0) return [];
    return [invalidField(field, addresses, 'must be empty when `clusterIP` is not specified')];
  }
  if (addresses.length === 0) return [requiredField(field)];
  return addresses[0] === single ? [] : [invalidField(field, addresses, 'first value must match `clusterIP`')];
}

function validateFamilies(spec: MutableJsonMap): readonly FieldError[] {
  const given: readonly unknown[] = Array.isArray(spec['ipFamilies']) ? spec['ipFamilies'] : [];
  const repeated = findRepeated(given);
  return [
    ...given.flatMap((family, index) => {
      const field = `spec.ipFamilies[${index}]`;
      const known = families.some((one) => one === family);
      return [
        ...(known ? [] : [unsupportedField(field, family, families)]),
        ...(repeated.has(index) ? [duplicateField(field, family)] : []),
      ];
    }),
    ...checkOneOf(spec, 'ipFamilyPolicy', 'spec', familyPolicies),
  ];
}

function validateAddressForm(addresses: readonly string[]): readonly FieldError[] {
  return addresses.flatMap((address, index) => {
    if (index > 0 || address !== 'None') return checkFormat(`spec.clusterIPs[${index}]`, address, explainAddress);
    if (addresses.length === 1) return [];
    return [invalidField('spec.clusterIPs', addresses, "'None' must be the first and only value")];
  });
}

function validateAddressFamilies(spec: MutableJsonMap, addresses: readonly string[]): readonly FieldError[] {
  const given = Array.isArray(spec['ipFamilies']) ? spec['ipFamilies'].map(String) : [];
  const [first = '', second] = addresses;
  const sameFamily = second !== undefined && isIpv6(first) === isIpv6(second);
  const detail = 'may specify no more than one IP for each IP family';
  const mismatched = isHeadless(spec)
    ? []
    : addresses.flatMap((address, index) => {
        const family = given[index];
        if (family === undefined || (family === 'IPv6') === isIpv6(address)) return [];
        const why = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
        return [invalidField(`spec.clusterIPs[${index}]`, address, why)];
      });
  return [...(sameFamily ? [invalidField('spec.clusterIPs', addresses, detail)] : []), ...mismatched];
}

function validateExternalAddresses(spec: MutableJsonMap): readonly FieldError[] {
  const addresses: readonly unknown[] = Array.isArray(spec['externalIPs']) ? spec['externalIPs'] : [];
  return addresses.map(String).flatMap((address, index) => {
    const field = `spec.externalIPs[${index}]`;
    const malformed = checkFormat(field, address, explainAddress);
    return malformed.length > 0 ? malformed : checkFormat(field, address, explainEndpointAddress);
  });
}

/** The fields of load balancers; the path of the ranges begins with a capital letter, as upstream. */
function validateBalancer(spec: MutableJsonMap): readonly FieldError[] {
  const isBalancer = spec['type'] === 'LoadBalancer';
  const ranges: readonly unknown[] = Array.isArray(spec['loadBalancerSourceRanges'])
    ? spec['loadBalancerSourceRanges']
    : [];
  const path = 'spec.LoadBalancerSourceRanges';
  const forbidden = ['allocateLoadBalancerNodePorts', 'loadBalancerClass'].filter(
    (field) => ownValue(spec, field) !== undefined,
  );
  return [
    ...(ranges.length > 0 && !isBalancer ? [forbiddenField(path, ofBalancers)] : []),
    ...ranges.flatMap((range, index) => checkFormat(`${path}[${index}]`, String(range).trim(), explainNetwork)),
    ...(isBalancer
      ? checkOptional(spec, 'loadBalancerClass', 'spec', explainQualifiedName)
      : forbidden.map((field) => forbiddenField(`spec.${field}`, ofBalancers))),
  ];
}

function validateTrafficPolicies(spec: MutableJsonMap): readonly FieldError[] {
  const policy = textAt(spec, 'externalTrafficPolicy');
  const misplaced = 'may only be set for externally-accessible services';
  const external = isExternal(spec)
    ? checkOneOf(spec, 'externalTrafficPolicy', 'spec', trafficPolicies)
    : policy === ''
      ? []
      : [invalidField('spec.externalTrafficPolicy', policy, misplaced)];
  return [
    ...external,
    ...validateHealthCheck(spec),
    ...checkOneOf(spec, 'internalTrafficPolicy', 'spec', trafficPolicies),
  ];
}

function validateHealthCheck(spec: MutableJsonMap): readonly FieldError[] {
  const port = numberAt(spec, 'healthCheckNodePort');
  const field = 'spec.healthCheckNodePort';
  if (needsHealthCheck(spec)) return explainPort(port).map((message) => invalidField(field, port, message));
  if (port === 0) return [];
  const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return [invalidField(field, port, detail)];
}

/** What was allocated does not change. */
export function validateServiceChange(draft: Draft, stored: Draft): readonly FieldError[] {
  const [after, before] = [draft.spec ?? {}, stored.spec ?? {}];
  const bothCheck = needsHealthCheck(before) && needsHealthCheck(after);
  // An earlier version stored 0, which is none.
  const portBefore = numberAt(before, 'healthCheckNodePort');
  const movesPort = bothCheck && portBefore !== 0 && numberAt(after, 'healthCheckNodePort') !== portBefore;
  const balanced = [after, before].every((spec) => spec['type'] === 'LoadBalancer');
  const { loadBalancerClass } = after;
  return [
    ...validateAddressesKept(after, before),
    ...(balanced && loadBalancerClass !== before['loadBalancerClass']
      ? [invalidField('spec.loadBalancerClass', loadBalancerClass ?? null, 'may not change once set')]
      : []),
    ...(movesPort ? [forbiddenField('spec.healthCheckNodePort', 'field is immutable')] : []),
  ];
}

function validateAddressesKept(after: MutableJsonMap, before: MutableJsonMap): readonly FieldError[] {
  const unbound = [after, before].some((spec) => spec['type'] === 'ExternalName');
  if (unbound || (isHeadless(after) && isHeadless(before))) return [];
  const [addresses, addressesBefore] = [addressesOf(after), addressesOf(before)];
  const ofAddresses = addressesBefore.flatMap((address, index) =>
    addresses[index] === address
      ? []
      : [invalidField(`spec.clusterIPs[${index}]`, addresses, 'may not change once set')],
  );
  if (isHeadless(after) !== isHeadless(before) || isHeadless(after)) return ofAddresses;
  if (sameJson(after['ipFamilies'], before['ipFamilies'])) return ofAddresses;
  return [...ofAddresses, invalidField('spec.ipFamilies[0]', after['ipFamilies'] ?? null, 'may not change once set')];
}
