import type { FieldReader } from '../../../machinery/api/field-reader.ts';
import { isAbsent, type JsonMap, mapsOf } from '../../../machinery/api/json-map.ts';

const portMax = 65_535;
const protocols = ['TCP', 'UDP', 'SCTP'];
/** RFC 6335, as upstream `IsValidPortName` has it. */
const portName = /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/;
const portNameText =
  "at most 15 lowercase letters, digits and single '-', with at least one letter, and with a letter or digit at both ends";

/** Validates the ports of one container; `taken` are the host ports of the pod's other containers. */
export function validatePorts(fields: FieldReader, path: string, container: JsonMap, taken: Set<string>): void {
  const names = new Set<string>();
  for (const [index, port] of fields.items<JsonMap>(path, container['ports'], []).entries()) {
    const at = `${path}[${index}]`;
    validatePortName(fields, `${at}.name`, port['name'], names);
    if (isAbsent(port['containerPort'])) fields.refuse(`${at}.containerPort`, undefined, 'a number from 1 to 65535');
    else validatePortNumber(fields, `${at}.containerPort`, port['containerPort'], 1);
    validatePortNumber(fields, `${at}.hostPort`, port['hostPort'], 0);
    const protocol = fields.text(`${at}.protocol`, port['protocol']);
    if (!protocols.includes(protocol)) fields.refuse(`${at}.protocol`, protocol, `one of ${protocols.join(', ')}`);
    validateHostPort(fields, at, port, taken);
  }
}

function validatePortName(fields: FieldReader, path: string, value: unknown, names: Set<string>): void {
  const name = fields.text(path, value);
  if (name === '') return;
  if (!portName.test(name)) fields.refuse(path, name, portNameText);
  if (names.has(name)) fields.refuse(path, name, 'a name that no other port of the container has');
  names.add(name);
}

function validatePortNumber(fields: FieldReader, path: string, value: unknown, min: number): void {
  const port = fields.whole(path, value);
  if (port !== undefined && (port < min || port > portMax))
    fields.refuse(path, port, `a number from ${min} to ${portMax}`);
}

function validateHostPort(fields: FieldReader, path: string, port: JsonMap, taken: Set<string>): void {
  const { hostPort, hostIP, protocol } = port;
  if (typeof hostPort !== 'number' || hostPort === 0) return;
  const address = typeof hostIP === 'string' ? hostIP : '';
  const key = `${String(protocol)}/${address}/${hostPort}`;
  if (taken.has(key)) fields.refuse(`${path}.hostPort`, hostPort, 'a port that no other container of the pod takes');
  taken.add(key);
}

/** With hostNetwork, a host port must equal its container port. */
export function validateHostPorts(fields: FieldReader, path: string, spec: JsonMap): void {
  if (spec['hostNetwork'] !== true) return;
  for (const [index, container] of mapsOf(spec['containers']).entries()) {
    for (const [place, { hostPort, containerPort }] of mapsOf(container['ports']).entries()) {
      if (hostPort === containerPort) continue;
      const field = `${path}[${index}].ports[${place}].hostPort`;
      fields.refuse(field, hostPort, `the containerPort, ${String(containerPort)}, if hostNetwork is true`);
    }
  }
}
