import type { FieldReader } from '../../api/field-reader.ts';
import type { JsonMap } from '../../api/json-map.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue, isQualifiedName } from '../../api/names.ts';

/** Keys and values together (upstream `TotalAnnotationSizeLimitB`). */
export const annotationCharsMax = 256 * 1024;

export const dnsLabelText =
  "a lowercase RFC 1123 label: at most 63 lower case letters, digits and '-', with a letter or digit at both ends";
const dnsSubdomainText =
  "a lowercase RFC 1123 subdomain: at most 253 lower case letters, digits, '-' and '.', with a letter or digit at both ends of each part";
const keyText =
  "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, perhaps behind a domain and '/'";
const labelValueText = "nothing, or at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";

/** What is not accepted in a static pod's metadata, which has its defaults already, is noted. */
export function assessMetadata(fields: FieldReader, metadata: JsonMap): void {
  const name = fields.neededText('metadata.name', metadata['name']);
  if (name !== '' && !isDnsSubdomain(name)) fields.refuse('metadata.name', name, dnsSubdomainText);
  const namespace = fields.text('metadata.namespace', metadata['namespace']);
  if (namespace !== '' && !isDnsLabel(namespace)) fields.refuse('metadata.namespace', namespace, dnsLabelText);
  fields.neededText('metadata.uid', metadata['uid']);
  assessLabels(fields, 'metadata.labels', metadata['labels']);
  assessAnnotations(fields, metadata['annotations']);
}

/** Labels, or what selects by them. */
export function assessLabels(fields: FieldReader, path: string, value: unknown): void {
  for (const [key, label] of Object.entries(fields.labels(path, value))) {
    if (!isQualifiedName(key)) fields.refuse(path, key, `as a key: ${keyText}`);
    if (!isLabelValue(label)) fields.refuse(`${path}[${JSON.stringify(key)}]`, label, labelValueText);
  }
}

function assessAnnotations(fields: FieldReader, value: unknown): void {
  const path = 'metadata.annotations';
  let chars = 0;
  for (const [key, text] of Object.entries(fields.labels(path, value))) {
    // Capital letters in the domain are let pass here, as upstream does.
    if (!isQualifiedName(key.toLowerCase())) fields.refuse(path, key, `as a key: ${keyText}`);
    chars += key.length + text.length;
  }
  if (chars > annotationCharsMax) fields.refuse(path, chars, `at most ${annotationCharsMax} characters in all`);
}
