import type { FieldReader } from '../../../machinery/api/field-reader.ts';
import { isAbsent, type JsonMap, mapsOf, ownValue } from '../../../machinery/api/json-map.ts';
import { isDnsLabel } from '../../../machinery/api/names.ts';
import { dnsLabelText } from './validate-metadata.ts';
import { validateResources } from './validate-resources.ts';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];
const mountModes = ['None', 'HostToContainer', 'Bidirectional'];
/** Printable ASCII except '=' (upstream `IsRelaxedEnvVarName`). */
const envName = /^[ -<>-~]+$/;

/** State shared by the containers of a pod: names and host ports must be unique. */
interface Shared {
  readonly names: Set<string>;
  readonly hostPorts: Set<string>;
  readonly volumes: ReadonlySet<string>;
}

/** Validates the containers of a spec. `volumes`: the names that they may mount. */
export function validateContainers(fields: FieldReader, spec: JsonMap, volumes: ReadonlySet<string>): void {
  const shared = { names: new Set<string>(), hostPorts: new Set<string>(), volumes };
  const containers = fields.items<JsonMap>('spec.containers', spec['containers'], []);
  if (containers.length === 0) fields.refuse('spec.containers', spec['containers'], 'a list of at least one container');
  for (const [index, container] of containers.entries()) {
    validateContainer(fields, `spec.containers[${index}]`, container, shared);
    const { restartPolicy } = container;
    if (!isAbsent(restartPolicy))
      fields.refuse(
        `spec.containers[${index}].restartPolicy`,
        restartPolicy,
        'unset: only init containers may have it',
      );
  }
  validateHostPorts(fields, 'spec.containers', spec);
  const initContainers = fields.items<JsonMap>('spec.initContainers', spec['initContainers'], []);
  for (const [index, container] of initContainers.entries()) {
    // Init containers run one after another, and may use the same host port.
    const path = `spec.initContainers[${index}]`;
    validateContainer(fields, path, container, { ...shared, hostPorts: new Set() });
    validateInit(fields, path, container);
  }
}

function validateContainer(fields: FieldReader, path: string, container: JsonMap, shared: Shared): void {
  validateName(fields, `${path}.name`, container['name'], shared.names);
  const image = fields.requiredText(`${path}.image`, container['image']);
  if (image !== image.trim()) fields.refuse(`${path}.image`, image, 'an image without spaces around it');
  validateOneOf(fields, `${path}.imagePullPolicy`, container['imagePullPolicy'], pullPolicies);
  validateOneOf(fields, `${path}.terminationMessagePolicy`, container['terminationMessagePolicy'], messagePolicies);
  fields.requiredText(`${path}.terminationMessagePath`, container['terminationMessagePath']);
  validateStrings(fields, `${path}.command`, container['command']);
  validateStrings(fields, `${path}.args`, container['args']);
  validateResources(fields, `${path}.resources`, container['resources']);
  validatePorts(fields, `${path}.ports`, container, shared.hostPorts);
  validateEnv(fields, `${path}.env`, container['env']);
  validateMounts(fields, `${path}.volumeMounts`, container['volumeMounts'], shared.volumes);
  validateProbes(fields, path, container);
}

function validateName(fields: FieldReader, path: string, value: unknown, names: Set<string>): void {
  const name = fields.requiredText(path, value);
  if (name === '') return;
  if (!isDnsLabel(name)) fields.refuse(path, name, dnsLabelText);
  if (names.has(name)) fields.refuse(path, name, 'a name that no other container of the pod has');
  names.add(name);
}

/** Init containers that run to completion cannot have probes; sidecars (`Always`) can. */
function validateInit(fields: FieldReader, path: string, container: JsonMap): void {
  const { restartPolicy } = container;
  if (!isAbsent(restartPolicy)) {
    validateOneOf(fields, `${path}.restartPolicy`, restartPolicy, ['Always']);
    return;
  }
  for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle']) {
    if (!isAbsent(ownValue(container, field)))
      fields.refuse(`${path}.${field}`, ownValue(container, field), "unset unless restartPolicy is 'Always'");
  }
}

function validateStrings(fields: FieldReader, path: string, value: unknown): void {
  if (isAbsent(value)) return;
  if (!Array.isArray(value)) fields.refuse(path, value, 'a list of strings');
  else
    for (const [index, text] of value.entries())
      if (typeof text !== 'string') fields.refuse(`${path}[${index}]`, text, 'a string');
}

function validateEnv(fields: FieldReader, path: string, value: unknown): void {
  for (const [index, entry] of fields.items<JsonMap>(path, value, []).entries()) {
    const name = fields.requiredText(`${path}[${index}].name`, entry['name']);
    if (name !== '' && !envName.test(name))
      fields.refuse(`${path}[${index}].name`, name, "printable ASCII characters without '='");
    const text = fields.text(`${path}[${index}].value`, entry['value']);
    if (text !== '' && !isAbsent(entry['valueFrom']))
      fields.refuse(`${path}[${index}].valueFrom`, entry['valueFrom'], 'unset if value is set');
  }
}

function validateMounts(fields: FieldReader, path: string, value: unknown, volumes: ReadonlySet<string>): void {
  const mountPaths = new Set<string>();
  for (const [index, mount] of fields.items<JsonMap>(path, value, []).entries()) {
    const at = `${path}[${index}]`;
    const name = fields.requiredText(`${at}.name`, mount['name']);
    if (name !== '' && !volumes.has(name)) fields.refuse(`${at}.name`, name, 'the name of a volume of the pod');
    const mountPath = fields.requiredText(`${at}.mountPath`, mount['mountPath']);
    if (mountPaths.has(mountPath))
      fields.refuse(`${at}.mountPath`, mountPath, 'a path that no other volume is mounted at');
    mountPaths.add(mountPath);
    const propagation = mount['mountPropagation'];
    if (!isAbsent(propagation)) validateOneOf(fields, `${at}.mountPropagation`, propagation, mountModes);
  }
}

/** One of a fixed set of strings. */
export function validateOneOf(fields: FieldReader, path: string, value: unknown, accepted: readonly string[]): void {
  if (typeof value !== 'string' || !accepted.includes(value))
    fields.refuse(path, value, `one of ${accepted.join(', ')}`);
}

const portMax = 65_535;
const protocols = ['TCP', 'UDP', 'SCTP'];
/** RFC 6335, as upstream `IsValidPortName` has it. */
const portName = /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/;
const portNameText =
  "at most 15 lowercase letters, digits and single '-', with at least one letter, and with a letter or digit at both ends";

/** Validates the ports of one container; `taken` are the host ports of the pod's other containers. */
function validatePorts(fields: FieldReader, path: string, container: JsonMap, taken: Set<string>): void {
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
function validateHostPorts(fields: FieldReader, path: string, spec: JsonMap): void {
  if (spec['hostNetwork'] !== true) return;
  for (const [index, container] of mapsOf(spec['containers']).entries()) {
    for (const [place, { hostPort, containerPort }] of mapsOf(container['ports']).entries()) {
      if (hostPort === containerPort) continue;
      const field = `${path}[${index}].ports[${place}].hostPort`;
      fields.refuse(field, hostPort, `the containerPort, ${String(containerPort)}, if hostNetwork is true`);
    }
  }
}

const probeHandlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const lifecycleHandlers = ['exec', 'httpGet', 'tcpSocket', 'sleep'];
const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];
const portText = "a number from 1 to 65535, or a port's name";

/** Validates the probes and lifecycle hooks of one container. */
function validateProbes(fields: FieldReader, path: string, container: JsonMap): void {
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
