/**
 * Validates what a hollow kubelet reads of a static pod, after defaulting: names, and the types of values. The API server
 * validates the rest when the mirror pod is created.
 */
import { FieldReader } from '../../../machinery/api/field-reader.ts';
import { isAbsent, type JsonMap, ownValue, textOf } from '../../../machinery/api/json-map.ts';
import { isDnsLabel, isDnsSubdomain } from '../../../machinery/api/names.ts';
import { parseQuantity } from '../../../machinery/api/quantity.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const portMax = 65_535;
const dnsLabelText =
  "a lowercase RFC 1123 label: at most 63 lowercase letters, digits and '-', with a letter or digit at both ends";
const dnsSubdomainText =
  "a lowercase RFC 1123 subdomain: at most 253 lowercase letters, digits, '-' and '.', with a letter or digit at both ends of each part";

/** Each problem with its field, value and accepted values; none for a valid pod. */
export function validateStaticPod(pod: JsonMap): readonly string[] {
  const fields = new FieldReader();
  validateMetadata(fields, fields.part('metadata', pod['metadata']));
  const spec = fields.part('spec', pod['spec']);
  validateContainers(fields, spec);
  const policy = fields.text('spec.restartPolicy', spec['restartPolicy']);
  if (!restartPolicies.includes(policy)) {
    fields.refuse('spec.restartPolicy', policy, `one of ${restartPolicies.join(', ')}`);
  }
  for (const field of ['terminationGracePeriodSeconds', 'activeDeadlineSeconds', 'priority']) {
    fields.whole(`spec.${field}`, ownValue(spec, field));
  }
  fields.flag('spec.hostNetwork', spec['hostNetwork']);
  fields.labels('spec.nodeSelector', spec['nodeSelector']);
  validateTolerations(fields, spec['tolerations']);
  return fields.problems ?? [];
}

function validateMetadata(fields: FieldReader, metadata: JsonMap): void {
  const name = fields.requiredText('metadata.name', metadata['name']);
  if (name !== '' && !isDnsSubdomain(name)) fields.refuse('metadata.name', name, dnsSubdomainText);
  const namespace = fields.text('metadata.namespace', metadata['namespace']);
  if (namespace !== '' && !isDnsLabel(namespace)) fields.refuse('metadata.namespace', namespace, dnsLabelText);
  fields.requiredText('metadata.uid', metadata['uid']);
  fields.labels('metadata.labels', metadata['labels']);
  fields.labels('metadata.annotations', metadata['annotations']);
}

function validateContainers(fields: FieldReader, spec: JsonMap): void {
  const names = new Set<string>();
  for (const field of ['containers', 'initContainers']) {
    const path = `spec.${field}`;
    const containers = fields.items<JsonMap>(path, ownValue(spec, field), []);
    const isMissing = field === 'containers' && containers.length === 0;
    if (isMissing) fields.refuse(path, spec['containers'], 'a list of at least one container');
    for (const [index, each] of containers.entries()) validateContainer(fields, `${path}[${index}]`, each, names);
  }
}

/** `names` are those of the other containers of the pod. */
function validateContainer(fields: FieldReader, path: string, container: JsonMap, names: Set<string>): void {
  const name = fields.requiredText(`${path}.name`, container['name']);
  if (name !== '' && !isDnsLabel(name)) fields.refuse(`${path}.name`, name, dnsLabelText);
  if (names.has(name)) fields.refuse(`${path}.name`, name, 'a name that no other container of the pod has');
  names.add(name);
  fields.requiredText(`${path}.image`, container['image']);
  fields.text(`${path}.imagePullPolicy`, container['imagePullPolicy']);
  fields.text(`${path}.restartPolicy`, container['restartPolicy']);
  for (const [index, port] of fields.items<JsonMap>(`${path}.ports`, container['ports'], []).entries()) {
    validatePort(fields, `${path}.ports[${index}]`, port);
  }
  const resources = fields.part(`${path}.resources`, container['resources']);
  validateAmounts(fields, `${path}.resources.limits`, resources['limits']);
  validateAmounts(fields, `${path}.resources.requests`, resources['requests']);
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    validateProbe(fields, `${path}.${probe}`, ownValue(container, probe));
  }
}

function validatePort(fields: FieldReader, path: string, port: JsonMap): void {
  fields.text(`${path}.protocol`, port['protocol']);
  for (const field of ['containerPort', 'hostPort']) {
    const number = fields.whole(`${path}.${field}`, ownValue(port, field));
    if (number !== undefined && (number < 0 || number > portMax)) {
      fields.refuse(`${path}.${field}`, number, `a number up to ${portMax}`);
    }
  }
}

function validateAmounts(fields: FieldReader, path: string, value: unknown): void {
  for (const [name, shown] of Object.entries(fields.part(path, value))) {
    if (isAbsent(shown)) continue;
    const amount = parseQuantity(typeof shown === 'number' ? String(shown) : textOf(shown));
    if (amount === undefined || amount < 0)
      fields.refuse(`${path}.${name}`, shown, "a quantity such as '500m' or '1Gi'");
  }
}

function validateProbe(fields: FieldReader, path: string, value: unknown): void {
  const probe = fields.part(path, value);
  for (const field of ['initialDelaySeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']) {
    const number = fields.whole(`${path}.${field}`, ownValue(probe, field));
    if (number !== undefined && number < 0) fields.refuse(`${path}.${field}`, number, '0 or more');
  }
}

function validateTolerations(fields: FieldReader, value: unknown): void {
  for (const [index, toleration] of fields.items<JsonMap>('spec.tolerations', value, []).entries()) {
    const path = `spec.tolerations[${index}]`;
    for (const field of ['key', 'operator', 'value', 'effect']) {
      fields.text(`${path}.${field}`, ownValue(toleration, field));
    }
    fields.whole(`${path}.tolerationSeconds`, toleration['tolerationSeconds']);
  }
}
