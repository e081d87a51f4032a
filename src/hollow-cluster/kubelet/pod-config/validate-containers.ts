import type { FieldReader } from '../../../machinery/api/field-reader.ts';
import { isAbsent, type JsonMap, ownValue } from '../../../machinery/api/json-map.ts';
import { isDnsLabel } from '../../../machinery/api/names.ts';
import { dnsLabelText } from './validate-metadata.ts';
import { validateHostPorts, validatePorts } from './validate-ports.ts';
import { validateProbes } from './validate-probes.ts';
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
