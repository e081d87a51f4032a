import type { FieldReader } from '../../api/field-reader.ts';
import { isAbsent, type JsonMap, mapsOf } from '../../api/json-map.ts';

const portMax = 65_535;
const protocols = ['TCP', 'UDP', 'SCTP'];
/** RFC 6335, as upstream `IsValidPortName` has it. */
const portName = /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/;
const portNameText =
  "at most 15 lower case letters, digits and single '-', a letter among them, with a letter or digit at both ends";

/** The ports of one container; `taken` are those of the host that other containers of the pod have. */
export function assessPorts(fields: FieldReader, path: string, container: JsonMap, taken: Set<string>): void {
  const names = new Set<string>();
  for (const [index, port] of fields.items<JsonMap>(path, container['ports'], []).entries()) {
    const at = `${path}[${index}]`;
    assessPortName(fields, `${at}.name`, port['name'], names);
    if (isAbsent(port['containerPort'])) fields.refuse(`${at}.containerPort`, undefined, 'a number from 1 to 65535');
    else assessNumber(fields, `${at}.containerPort`, port['containerPort'], 1);
    assessNumber(fields, `${at}.hostPort`, port['hostPort'], 0);
    const protocol = fields.text(`${at}.protocol`, port['protocol']);
    if (!protocols.includes(protocol)) fields.refuse(`${at}.protocol`, protocol, protocols.join(', '));
    takeHostPort(fields, at, port, taken);
  }
}

function assessPortName(fields: FieldReader, path: string, value: unknown, names: Set<string>): void {
  const name = fields.text(path, value);
  if (name === '') return;
  if (!portName.test(name)) fields.refuse(path, name, portNameText);
  if (names.has(name)) fields.refuse(path, name, 'a name that no other port of the container has');
  names.add(name);
}

function assessNumber(fields: FieldReader, path: string, value: unknown, min: number): void {
  const port = fields.whole(path, value);
  if (port !== undefined && (port < min || port > portMax))
    fields.refuse(path, port, `a number from ${min} to ${portMax}`);
}

function takeHostPort(fields: FieldReader, path: string, port: JsonMap, taken: Set<string>): void {
  const { hostPort, hostIP, protocol } = port;
  if (typeof hostPort !== 'number' || hostPort === 0) return;
  const address = typeof hostIP === 'string' ? hostIP : '';
  const key = `${String(protocol)}/${address}/${hostPort}`;
  if (taken.has(key)) fields.refuse(`${path}.hostPort`, hostPort, 'a port that no other container of the pod takes');
  taken.add(key);
}

/** On the host's network a port is the host's own. */
export function assessHostPorts(fields: FieldReader, path: string, spec: JsonMap): void {
  if (spec['hostNetwork'] !== true) return;
  for (const [index, container] of mapsOf(spec['containers']).entries()) {
    for (const [place, { hostPort, containerPort }] of mapsOf(container['ports']).entries()) {
      if (hostPort === containerPort) continue;
      const field = `${path}[${index}].ports[${place}].hostPort`;
      fields.refuse(field, hostPort, `the containerPort, ${String(containerPort)}, as hostNetwork is true`);
    }
  }
}
