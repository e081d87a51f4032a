/** Endpoints, EndpointSlices and addresses of load balancers (upstream `printEndpoints`, `printEndpointSlice`). */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { mapsAt, numberAt, textAt, textsAt } from '../select-field.ts';
import { ageColumn, column, nameColumn, type PrintedColumn } from './describe-columns.ts';

/** So many entries are printed; of the others, their number. */
const shownMax = 3;

export const endpointsColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Endpoints', 'Addresses and ports of the ready pods.', (endpoints) => {
    const subsets = mapsAt(endpoints, 'subsets');
    return subsets.length === 0 ? '<none>' : describeFirst(subsets.flatMap(addressesOf));
  }),
  ageColumn,
];

export const endpointSliceColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('AddressType', 'IPv4, IPv6 or FQDN.', (slice) => textAt(slice, 'addressType')),
  column('Ports', 'Numbers of the ports, or names of those without a number.', (slice) => {
    return describeFirst(mapsAt(slice, 'ports').map(describePort)) || '<unset>';
  }),
  column('Endpoints', 'Addresses of the endpoints.', (slice) => {
    return describeFirst(mapsAt(slice, 'endpoints').flatMap((endpoint) => textsAt(endpoint, 'addresses'))) || '<unset>';
  }),
  ageColumn,
];

/** The addresses that a load balancer has given to a Service or Ingress: each once, in order. */
export function balancerAddresses(object: JsonMap): readonly string[] {
  const points = mapsAt(object, 'status', 'loadBalancer', 'ingress');
  const addresses = points.map((point) => textAt(point, 'ip') || textAt(point, 'hostname'));
  return [...new Set(addresses.filter((address) => address !== ''))].sort();
}

function addressesOf(subset: JsonMap): readonly string[] {
  const addresses = mapsAt(subset, 'addresses').map((address) => textAt(address, 'ip'));
  const ports = mapsAt(subset, 'ports').map((port) => numberAt(port, 'port'));
  if (ports.length === 0) return addresses;
  return ports.flatMap((port) => addresses.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`));
}

function describePort(port: JsonMap): string {
  const { port: number, name } = port;
  if (typeof number === 'number') return String(number);
  return typeof name === 'string' ? name : '*';
}

function describeFirst(texts: readonly string[]): string {
  const shown = texts.slice(0, shownMax).join(',');
  return texts.length > shownMax ? `${shown} + ${texts.length - shownMax} more...` : shown;
}
