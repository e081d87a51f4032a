import type { FieldReader } from '../../../machinery/api/field-reader.ts';
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue, isQualifiedName } from '../../../machinery/api/names.ts';

/** Keys and values together (upstream `TotalAnnotationSizeLimitB`). */
const annotationCharsMax = 256 * 1024;

export const dnsLabelText =
  "a lowercase RFC 1123 label: at most 63 lowercase letters, digits and '-', with a letter or digit at both ends";
const dnsSubdomainText =
  "a lowercase RFC 1123 subdomain: at most 253 lowercase letters, digits, '-' and '.', with a letter or digit at both ends of each part";
const keyText =
  "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, optionally after a DNS subdomain and '/'";
const labelValueText = "empty, or at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";

/** Validates a static pod's metadata after defaulting. */
export function validateMetadata(fields: FieldReader, metadata: JsonMap): void {
  const name = fields.requiredText('metadata.name', metadata['name']);
  if (name !== '' && !isDnsSubdomain(name)) fields.refuse('metadata.name', name, dnsSubdomainText);
  const namespace = fields.text('metadata.namespace', metadata['namespace']);
  if (namespace !== '' && !isDnsLabel(namespace)) fields.refuse('metadata.namespace', namespace, dnsLabelText);
  fields.requiredText('metadata.uid', metadata['uid']);
  validateLabels(fields, 'metadata.labels', metadata['labels']);
  validateAnnotations(fields, metadata['annotations']);
}

/** Labels or a label selector. */
export function validateLabels(fields: FieldReader, path: string, value: unknown): void {
  for (const [key, label] of Object.entries(fields.labels(path, value))) {
    if (!isQualifiedName(key)) fields.refuse(path, key, `a key of ${keyText}`);
    if (!isLabelValue(label)) fields.refuse(`${path}[${JSON.stringify(key)}]`, label, labelValueText);
  }
}

function validateAnnotations(fields: FieldReader, value: unknown): void {
  const path = 'metadata.annotations';
  let chars = 0;
  for (const [key, text] of Object.entries(fields.labels(path, value))) {
    // Upper case letters in the domain are accepted here, as upstream does.
    if (!isQualifiedName(key.toLowerCase())) fields.refuse(path, key, `a key of ${keyText}`);
    chars += key.length + text.length;
  }
  if (chars > annotationCharsMax) fields.refuse(path, chars, `at most ${annotationCharsMax} characters in all`);
}
