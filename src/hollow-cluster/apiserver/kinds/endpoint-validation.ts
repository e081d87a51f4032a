/** Endpoints and EndpointSlices (upstream `ValidateEndpoints`, `ValidateEndpointSlice`). */
import { sameJson } from '../../../machinery/api/same-json.ts';
import {
  duplicateField,
  type FieldError,
  invalidField,
  requiredField,
  unsupportedField,
} from '../api-errors/field-errors.ts';
import { mapsAt, type MutableJsonMap, numberAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { checkFormat, checkKept, checkOneOf, checkOptional } from '../validation/field-checks.ts';
import { findRepeated } from '../validation/find-repeated.ts';
import {
  explainAddress,
  explainEndpointAddress,
  explainHostName,
  explainLabel,
  explainLabelValue,
  explainPort,
  explainQualifiedName,
  explainSubdomain,
} from '../validation/formats.ts';
import { isIpv4, isIpv6 } from '../validation/ip-addresses.ts';

const protocols = ['SCTP', 'TCP', 'UDP'] as const;
const addressTypes = ['FQDN', 'IPv4', 'IPv6'] as const;

export function validateEndpoints(draft: Draft): readonly FieldError[] {
  return mapsAt(draft, 'subsets').flatMap((subset, index) => {
    const path = `subsets[${index}]`;
    const none = ['addresses', 'notReadyAddresses'].every((list) => mapsAt(subset, list).length === 0);
    const ports = mapsAt(subset, 'ports');
    return [
      ...(none ? [requiredField(path, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...['addresses', 'notReadyAddresses'].flatMap((list) =>
        mapsAt(subset, list).flatMap((address, place) => validateAddress(address, `${path}.${list}[${place}]`)),
      ),
      ...ports.flatMap((port, place) => validatePort(port, `${path}.ports[${place}]`, ports.length > 1)),
    ];
  });
}

function validateAddress(address: MutableJsonMap, path: string): readonly FieldError[] {
  const ip = textAt(address, 'ip');
  return [
    ...checkFormat(`${path}.ip`, ip, explainAddress),
    ...checkOptional(address, 'hostname', path, explainLabel),
    ...checkOptional(address, 'nodeName', path, explainSubdomain),
    ...checkFormat(`${path}.ip`, ip, explainEndpointAddress),
  ];
}

function validatePort(port: MutableJsonMap, path: string, isNamed: boolean): readonly FieldError[] {
  const number = numberAt(port, 'port');
  const unnamed = isNamed && textAt(port, 'name') === '';
  return [
    ...(unnamed ? [requiredField(`${path}.name`)] : checkOptional(port, 'name', path, explainLabel)),
    ...explainPort(number).map((message) => invalidField(`${path}.port`, number, message)),
    ...checkOneOf(port, 'protocol', path, protocols),
    ...checkOptional(port, 'appProtocol', path, explainQualifiedName),
  ];
}

export function validateSlice(draft: Draft): readonly FieldError[] {
  const type = textAt(draft, 'addressType');
  const known = addressTypes.some((one) => one === type);
  const ofType = type === '' ? [requiredField('addressType')] : [unsupportedField('addressType', type, addressTypes)];
  return [...(known ? [] : ofType), ...validateSlicePorts(draft)];
}

/** Endpoints that were stored already are not validated again. */
export function validateSliceEndpoints(draft: Draft, stored?: Draft): readonly FieldError[] {
  if (stored !== undefined && sameJson(draft['endpoints'], stored['endpoints'])) return [];
  return mapsAt(draft, 'endpoints').flatMap((endpoint, index) =>
    validateEndpoint(endpoint, textAt(draft, 'addressType'), `endpoints[${index}]`),
  );
}

export function validateSliceChange(draft: Draft, stored: Draft): readonly FieldError[] {
  return [...validateSliceEndpoints(draft, stored), ...checkKept([draft, stored], ['addressType'], '')];
}

function validateEndpoint(endpoint: MutableJsonMap, type: string, path: string): readonly FieldError[] {
  const addresses: readonly unknown[] = Array.isArray(endpoint['addresses']) ? endpoint['addresses'] : [];
  const own = `${path}.addresses`;
  return [
    ...(addresses.length === 0 ? [requiredField(own, 'must contain at least 1 address')] : []),
    ...addresses.flatMap((address, index) => validateSliceAddress(String(address), type, [own, `${own}[${index}]`])),
    ...checkOptional(endpoint, 'nodeName', path, explainSubdomain),
    ...checkOptional(endpoint, 'hostname', path, explainLabel),
    ...validateHints(mapsAt(endpoint, 'hints', 'forZones'), `${path}.hints.forZones`, explainLabelValue),
    ...validateHints(mapsAt(endpoint, 'hints', 'forNodes'), `${path}.hints.forNodes`, explainSubdomain),
  ];
}

function validateSliceAddress(
  address: string,
  type: string,
  [list, field]: readonly [string, string],
): readonly FieldError[] {
  if (type === 'FQDN') return checkFormat(field, address, explainHostName);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const malformed = checkFormat(field, address, explainAddress);
  if (malformed.length > 0) return malformed;
  const fits = type === 'IPv4' ? isIpv4(address) : isIpv6(address);
  return [
    ...(fits ? [] : [invalidField(list, address, `must be an ${type} address`)]),
    ...checkFormat(field, address, explainEndpointAddress),
  ];
}

function validateHints(
  hints: readonly MutableJsonMap[],
  path: string,
  explain: (name: string) => readonly string[],
): readonly FieldError[] {
  const names = hints.map((hint) => textAt(hint, 'name'));
  const repeated = findRepeated(names);
  return names.flatMap((name, index) => [
    ...(repeated.has(index) ? [duplicateField(`${path}[${index}].name`, name)] : []),
    ...checkFormat(`${path}[${index}].name`, name, explain),
  ]);
}

function validateSlicePorts(draft: Draft): readonly FieldError[] {
  const ports = mapsAt(draft, 'ports');
  const repeated = findRepeated(ports.map((port) => textAt(port, 'name')));
  return ports.flatMap((port, index) => {
    const path = `ports[${index}]`;
    const name = textAt(port, 'name');
    return [
      ...checkOptional(port, 'name', path, explainLabel),
      ...(repeated.has(index) ? [duplicateField(`${path}.name`, name)] : []),
      ...checkOneOf(port, 'protocol', path, protocols),
      ...checkOptional(port, 'appProtocol', path, explainQualifiedName),
    ];
  });
}
