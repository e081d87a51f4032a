/** Validates access reviews (upstream `pkg/apis/authorization/validation`). */
import type { FieldError } from '../api-errors/field-errors.ts';
import { isMap, mapAt, type MutableJsonMap, textAt } from '../../../machinery/api/select-field.ts';

/** `kind` is SelfSubjectAccessReview, SubjectAccessReview or LocalSubjectAccessReview. */
export function validateReview(kind: string, body: MutableJsonMap): readonly FieldError[] {
  const spec = mapAt(body, 'spec');
  return [
    ...validateTarget(spec),
    ...(kind === 'SelfSubjectAccessReview' ? [] : validateUser(spec)),
    ...validateMetadata(kind, mapAt(body, 'metadata')),
    ...(kind === 'LocalSubjectAccessReview' ? validateNamespace(body) : []),
  ];
}

function validateTarget({ resourceAttributes, nonResourceAttributes }: MutableJsonMap): readonly FieldError[] {
  if (isMap(resourceAttributes) !== isMap(nonResourceAttributes)) return [];
  const shown = isMap(nonResourceAttributes) ? internalForm(nonResourceAttributes) : null;
  return [problem('spec', shown, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')];
}

function validateUser(spec: MutableJsonMap): readonly FieldError[] {
  const groups = spec['groups'];
  const hasGroups = Array.isArray(groups) && groups.length > 0;
  if (textAt(spec, 'user') !== '' || hasGroups) return [];
  return [problem('spec.user', '', 'at least one of user or group must be specified')];
}

function validateMetadata(kind: string, metadata: MutableJsonMap): readonly FieldError[] {
  const isLocal = kind === 'LocalSubjectAccessReview';
  const allowed = isLocal ? ['managedFields', 'namespace'] : ['managedFields'];
  const given = Object.entries(metadata).filter(([name, value]) => !allowed.includes(name) && value !== null);
  if (given.length === 0) return [];
  return [problem('metadata', metadata, isLocal ? 'must be empty except for namespace' : 'must be empty')];
}

function validateNamespace(body: MutableJsonMap): readonly FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = mapAt(body, 'spec');
  if (isMap(nonResourceAttributes)) {
    const shown = internalForm(nonResourceAttributes);
    return [problem('spec.nonResourceAttributes', shown, 'disallowed on this kind of request')];
  }
  const namespace = textAt(resourceAttributes, 'namespace');
  if (!isMap(resourceAttributes) || namespace === textAt(body, 'metadata', 'namespace')) return [];
  return [problem('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace')];
}

/** Attributes as upstream's internal type, which has no JSON names. */
function internalForm(attributes: MutableJsonMap): MutableJsonMap {
  return { Path: textAt(attributes, 'path'), Verb: textAt(attributes, 'verb') };
}

function problem(field: string, value: unknown, detail: string): FieldError {
  const shown = JSON.stringify(value);
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${detail}`, field };
}
