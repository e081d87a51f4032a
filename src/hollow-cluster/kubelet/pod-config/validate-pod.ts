/** Validates a pod as the API server would (upstream `validation.ValidatePodCreate`), after defaulting. */
import { FieldReader } from '../../../machinery/api/field-reader.ts';
import { isAbsent, type JsonMap, listOf, mapOf, ownValue } from '../../../machinery/api/json-map.ts';
import { isDnsLabel, isLabelValue, isQualifiedName } from '../../../machinery/api/names.ts';
import { validateContainers, validateOneOf } from './validate-containers.ts';
import { validateLabels, validateMetadata, dnsLabelText } from './validate-metadata.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'];
const deadlineSecondsMax = 2 ** 31 - 1;

/** Each problem with its field, value and accepted values; none for a valid pod. */
export function validatePod(pod: JsonMap): readonly string[] {
  const fields = new FieldReader();
  validateMetadata(fields, fields.part('metadata', pod['metadata']));
  const spec = fields.part('spec', pod['spec']);
  validateContainers(fields, spec, validateVolumes(fields, spec['volumes']));
  validateOneOf(fields, 'spec.restartPolicy', spec['restartPolicy'], restartPolicies);
  validateTimes(fields, spec);
  validateNetwork(fields, spec);
  validateTolerations(fields, spec['tolerations']);
  validateLabels(fields, 'spec.nodeSelector', spec['nodeSelector']);
  validateUnsupported(fields, spec);
  return fields.problems ?? [];
}

function validateTimes(fields: FieldReader, spec: JsonMap): void {
  const grace = fields.whole('spec.terminationGracePeriodSeconds', spec['terminationGracePeriodSeconds']);
  if (grace !== undefined && grace < 0) fields.refuse('spec.terminationGracePeriodSeconds', grace, '0 or more');
  const deadline = fields.whole('spec.activeDeadlineSeconds', spec['activeDeadlineSeconds']);
  if (deadline !== undefined && (deadline < 1 || deadline > deadlineSecondsMax))
    fields.refuse('spec.activeDeadlineSeconds', deadline, `1 to ${deadlineSecondsMax}`);
  fields.whole('spec.priority', spec['priority']);
}

function validateNetwork(fields: FieldReader, spec: JsonMap): void {
  validateOneOf(fields, 'spec.dnsPolicy', spec['dnsPolicy'], dnsPolicies);
  if (spec['dnsPolicy'] === 'None' && listOf(mapOf(spec['dnsConfig'])['nameservers']).length === 0)
    fields.refuse('spec.dnsConfig.nameservers', undefined, "at least one if dnsPolicy is 'None'");
  for (const field of ['hostname', 'subdomain']) {
    const name = fields.text(`spec.${field}`, ownValue(spec, field));
    if (name !== '' && !isDnsLabel(name)) fields.refuse(`spec.${field}`, name, dnsLabelText);
  }
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace'])
    fields.flag(`spec.${field}`, ownValue(spec, field));
  if (spec['hostPID'] === true && spec['shareProcessNamespace'] === true)
    fields.refuse('spec.shareProcessNamespace', true, 'false if hostPID is true');
}

/** Fields that are not allowed at creation, or not for a pod that is bound to a node. */
function validateUnsupported(fields: FieldReader, spec: JsonMap): void {
  for (const field of ['ephemeralContainers', 'schedulingGates']) {
    const value = ownValue(spec, field);
    if (!isAbsent(value) && !(Array.isArray(value) && value.length === 0))
      fields.refuse(`spec.${field}`, value, 'unset');
  }
}

const hostPathTypes = [
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
];

/** Validates the volumes of a spec; returns their names. */
function validateVolumes(fields: FieldReader, value: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, volume] of fields.items<JsonMap>('spec.volumes', value, []).entries()) {
    const path = `spec.volumes[${index}]`;
    const name = fields.requiredText(`${path}.name`, volume['name']);
    if (name !== '' && !isDnsLabel(name)) fields.refuse(`${path}.name`, name, dnsLabelText);
    if (names.has(name)) fields.refuse(`${path}.name`, name, 'a name that no other volume of the pod has');
    names.add(name);
    validateSource(fields, path, volume);
  }
  return names;
}

function validateSource(fields: FieldReader, path: string, volume: JsonMap): void {
  const kinds = Object.keys(volume).filter((field) => field !== 'name');
  if (kinds.length > 1) fields.refuse(path, kinds, 'at most one volume type');
  for (const kind of kinds) fields.part(`${path}.${kind}`, ownValue(volume, kind));
  if (kinds.includes('hostPath')) validateHostPath(fields, `${path}.hostPath`, mapOf(volume['hostPath']));
}

function validateHostPath(fields: FieldReader, path: string, hostPath: JsonMap): void {
  const hostPathValue = fields.requiredText(`${path}.path`, hostPath['path']);
  if (hostPathValue.split('/').includes('..')) fields.refuse(`${path}.path`, hostPathValue, "a path without '..'");
  const type = fields.text(`${path}.type`, hostPath['type']);
  if (!hostPathTypes.includes(type))
    fields.refuse(`${path}.type`, type, `one of ${hostPathTypes.filter(Boolean).join(', ')}`);
}

const taintEffects = ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const operators = ['', 'Equal', 'Exists'];

function validateTolerations(fields: FieldReader, value: unknown): void {
  for (const [index, toleration] of fields.items<JsonMap>('spec.tolerations', value, []).entries()) {
    validateToleration(fields, `spec.tolerations[${index}]`, toleration);
  }
}

function validateToleration(fields: FieldReader, path: string, toleration: JsonMap): void {
  const key = fields.text(`${path}.key`, toleration['key']);
  const operator = fields.text(`${path}.operator`, toleration['operator']);
  const effect = fields.text(`${path}.effect`, toleration['effect']);
  const seconds = fields.whole(`${path}.tolerationSeconds`, toleration['tolerationSeconds']);
  if (key !== '' && !isQualifiedName(key)) fields.refuse(`${path}.key`, key, 'a valid taint key');
  if (!operators.includes(operator)) fields.refuse(`${path}.operator`, operator, "'Equal', 'Exists'");
  if (key === '' && operator !== 'Exists') fields.refuse(`${path}.operator`, operator, "'Exists', if key is empty");
  if (!taintEffects.includes(effect))
    fields.refuse(`${path}.effect`, effect, `one of ${taintEffects.filter(Boolean).join(', ')}`);
  if (seconds !== undefined && effect !== 'NoExecute')
    fields.refuse(`${path}.effect`, effect, "'NoExecute', if tolerationSeconds is set");
  validateValue(fields, `${path}.value`, toleration['value'], operator);
}

function validateValue(fields: FieldReader, path: string, given: unknown, operator: string): void {
  const value = fields.text(path, given);
  if (operator === 'Exists' && value !== '') fields.refuse(path, value, "empty if the operator is 'Exists'");
  else if (!isLabelValue(value)) fields.refuse(path, value, 'a valid taint value');
}
