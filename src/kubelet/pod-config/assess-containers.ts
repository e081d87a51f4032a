import type { FieldReader } from '../../api/field-reader.ts';
import { isAbsent, type JsonMap } from '../../api/json-map.ts';
import { isDnsLabel } from '../../api/names.ts';
import { dnsLabelText } from './assess-metadata.ts';
import { assessHostPorts, assessPorts } from './assess-ports.ts';
import { assessProbes } from './assess-probes.ts';
import { assessResources } from './assess-resources.ts';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];
const mountModes = ['None', 'HostToContainer', 'Bidirectional'];
/** Printable ASCII but '=' (upstream `IsRelaxedEnvVarName`). */
const envName = /^[ -<>-~]+$/;

/** What the containers of a pod share: names and the host's ports are there once. */
interface Shared {
  readonly names: Set<string>;
  readonly hostPorts: Set<string>;
  readonly volumes: ReadonlySet<string>;
}

/** The containers of a spec. `volumes`: the names that they may mount. */
export function assessContainers(fields: FieldReader, spec: JsonMap, volumes: ReadonlySet<string>): void {
  const shared = { names: new Set<string>(), hostPorts: new Set<string>(), volumes };
  const containers = fields.items<JsonMap>('spec.containers', spec['containers'], []);
  if (containers.length === 0) fields.refuse('spec.containers', spec['containers'], 'a list of one container or more');
  for (const [index, container] of containers.entries()) {
    assessContainer(fields, `spec.containers[${index}]`, container, shared);
    const { restartPolicy } = container;
    if (!isAbsent(restartPolicy))
      fields.refuse(`spec.containers[${index}].restartPolicy`, restartPolicy, 'nothing: it is for init containers');
  }
  assessHostPorts(fields, 'spec.containers', spec);
  const initContainers = fields.items<JsonMap>('spec.initContainers', spec['initContainers'], []);
  for (const [index, container] of initContainers.entries()) {
    // Init containers run one after another, and may take the same port of the host.
    const path = `spec.initContainers[${index}]`;
    assessContainer(fields, path, container, { ...shared, hostPorts: new Set() });
    assessInit(fields, path, container);
  }
}

function assessContainer(fields: FieldReader, path: string, container: JsonMap, shared: Shared): void {
  assessName(fields, `${path}.name`, container['name'], shared.names);
  const image = fields.neededText(`${path}.image`, container['image']);
  if (image !== image.trim()) fields.refuse(`${path}.image`, image, 'an image without spaces around it');
  oneOf(fields, `${path}.imagePullPolicy`, container['imagePullPolicy'], pullPolicies);
  oneOf(fields, `${path}.terminationMessagePolicy`, container['terminationMessagePolicy'], messagePolicies);
  fields.neededText(`${path}.terminationMessagePath`, container['terminationMessagePath']);
  assessTexts(fields, `${path}.command`, container['command']);
  assessTexts(fields, `${path}.args`, container['args']);
  assessResources(fields, `${path}.resources`, container['resources']);
  assessPorts(fields, `${path}.ports`, container, shared.hostPorts);
  assessEnv(fields, `${path}.env`, container['env']);
  assessMounts(fields, `${path}.volumeMounts`, container['volumeMounts'], shared.volumes);
  assessProbes(fields, path, container);
}

function assessName(fields: FieldReader, path: string, value: unknown, names: Set<string>): void {
  const name = fields.neededText(path, value);
  if (name === '') return;
  if (!isDnsLabel(name)) fields.refuse(path, name, dnsLabelText);
  if (names.has(name)) fields.refuse(path, name, 'a name that no other container of the pod has');
  names.add(name);
}

/** One that runs to its end before the others cannot be probed; one that stays (`Always`) can. */
function assessInit(fields: FieldReader, path: string, container: JsonMap): void {
  const { restartPolicy } = container;
  if (!isAbsent(restartPolicy)) {
    oneOf(fields, `${path}.restartPolicy`, restartPolicy, ['Always']);
    return;
  }
  for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle']) {
    if (!isAbsent(container[field]))
      fields.refuse(`${path}.${field}`, container[field], "nothing, unless restartPolicy is 'Always'");
  }
}

function assessTexts(fields: FieldReader, path: string, value: unknown): void {
  if (isAbsent(value)) return;
  if (!Array.isArray(value)) fields.refuse(path, value, 'a list of texts');
  else
    for (const [index, text] of value.entries())
      if (typeof text !== 'string') fields.refuse(`${path}[${index}]`, text, 'a text');
}

function assessEnv(fields: FieldReader, path: string, value: unknown): void {
  for (const [index, entry] of fields.items<JsonMap>(path, value, []).entries()) {
    const name = fields.neededText(`${path}[${index}].name`, entry['name']);
    if (name !== '' && !envName.test(name))
      fields.refuse(`${path}[${index}].name`, name, "printable ASCII characters, but no '='");
    const text = fields.text(`${path}[${index}].value`, entry['value']);
    if (text !== '' && !isAbsent(entry['valueFrom']))
      fields.refuse(`${path}[${index}].valueFrom`, entry['valueFrom'], 'nothing, as there is a value');
  }
}

function assessMounts(fields: FieldReader, path: string, value: unknown, volumes: ReadonlySet<string>): void {
  const places = new Set<string>();
  for (const [index, mount] of fields.items<JsonMap>(path, value, []).entries()) {
    const at = `${path}[${index}]`;
    const name = fields.neededText(`${at}.name`, mount['name']);
    if (name !== '' && !volumes.has(name)) fields.refuse(`${at}.name`, name, "the name of one of the pod's volumes");
    const place = fields.neededText(`${at}.mountPath`, mount['mountPath']);
    if (places.has(place)) fields.refuse(`${at}.mountPath`, place, 'a path that nothing else is mounted at');
    places.add(place);
    const propagation = mount['mountPropagation'];
    if (!isAbsent(propagation)) oneOf(fields, `${at}.mountPropagation`, propagation, mountModes);
  }
}

/** A text out of a closed set. */
export function oneOf(fields: FieldReader, path: string, value: unknown, accepted: readonly string[]): void {
  if (typeof value !== 'string' || !accepted.includes(value)) fields.refuse(path, value, accepted.join(', '));
}
