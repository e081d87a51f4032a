import type { FieldReader } from '../../../machinery/api/field-reader.ts';
import { isAbsent, type JsonMap, ownValue } from '../../../machinery/api/json-map.ts';

const probeHandlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const lifecycleHandlers = ['exec', 'httpGet', 'tcpSocket', 'sleep'];
const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];
const portMax = 65_535;
const portText = "a number from 1 to 65535, or a port's name";

/** Validates the probes and lifecycle hooks of one container. */
export function validateProbes(fields: FieldReader, path: string, container: JsonMap): void {
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (!isAbsent(ownValue(container, name)))
      validateProbe(fields, `${path}.${name}`, ownValue(container, name), name === 'readinessProbe');
  }
  const lifecycle = fields.part(`${path}.lifecycle`, container['lifecycle']);
  for (const name of ['postStart', 'preStop']) {
    if (isAbsent(ownValue(lifecycle, name))) continue;
    const hook = fields.part(`${path}.lifecycle.${name}`, ownValue(lifecycle, name));
    validateHandler(fields, `${path}.lifecycle.${name}`, hook, lifecycleHandlers);
  }
}

function validateProbe(fields: FieldReader, path: string, value: unknown, mayExceedOne: boolean): void {
  const probe = fields.part(path, value);
  validateHandler(fields, path, probe, probeHandlers);
  for (const name of counts) {
    const count = fields.whole(`${path}.${name}`, ownValue(probe, name));
    if (count !== undefined && count < 0) fields.refuse(`${path}.${name}`, count, '0 or more');
  }
  const successes = fields.whole(`${path}.successThreshold`, probe['successThreshold']);
  if (!mayExceedOne && successes !== undefined && successes !== 1)
    fields.refuse(`${path}.successThreshold`, successes, '1');
}

function validateHandler(fields: FieldReader, path: string, handler: JsonMap, kinds: readonly string[]): void {
  const given = kinds.filter((kind) => !isAbsent(ownValue(handler, kind)));
  if (given.length !== 1) fields.refuse(path, given, `exactly one of ${kinds.join(', ')}`);
  const [kind = ''] = given;
  const action = fields.part(`${path}.${kind}`, ownValue(handler, kind));
  if (kind === 'exec') validateCommand(fields, `${path}.exec.command`, action['command']);
  if (['httpGet', 'tcpSocket', 'grpc'].includes(kind)) validatePort(fields, `${path}.${kind}.port`, action['port']);
}

function validateCommand(fields: FieldReader, path: string, command: unknown): void {
  if (!Array.isArray(command) || command.length === 0) fields.refuse(path, command, 'a non-empty list');
}

function validatePort(fields: FieldReader, path: string, port: unknown): void {
  const numbered = typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= portMax;
  const named = typeof port === 'string' && port !== '';
  if (!numbered && !named) fields.refuse(path, port, portText);
}
