/** What every object's metadata must look like (upstream `apimachinery/pkg/api/validation/objectmeta.go`). */
import type { Draft, DraftMeta, JsonMap } from '../storage/stored-object.ts';
import { isLabelValue, isQualifiedName } from './names.ts';
import type { FieldError } from './refusals.ts';
import { sameValue } from './same-value.ts';
import { type Strategy, textAt } from './strategy.ts';

/** Upstream `TotalAnnotationSizeLimitB`: keys and values together. */
export const annotationBytesMax = 256 * 1024;

/** The only ones that may go without a domain. */
const coreFinalizers: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

const immutable = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

export function validateMetadata(draft: Draft, strategy: Strategy): readonly FieldError[] {
  const { metadata } = draft;
  return [
    ...validateName(metadata, strategy),
    ...validateLabels(metadata.labels ?? {}),
    ...validateAnnotations(metadata.annotations ?? {}),
    ...validateOwners(metadata.ownerReferences ?? []),
    ...validateFinalizers(metadata.finalizers ?? []),
  ];
}

export function validateMetadataUpdate(draft: Draft, stored: Draft): readonly FieldError[] {
  const changed = immutable
    .filter((field) => (draft.metadata[field] ?? '') !== (stored.metadata[field] ?? ''))
    .map(
      (field): FieldError => ({
        field: `metadata.${field}`,
        problem: 'FieldValueInvalid',
        value: draft.metadata[field] ?? '',
        detail: 'field is immutable',
      }),
    );
  return [...changed, ...validateNewFinalizers(draft.metadata, stored.metadata)];
}

function validateNewFinalizers(metadata: DraftMeta, stored: DraftMeta): readonly FieldError[] {
  if (stored.deletionTimestamp === undefined) return [];
  const known = stored.finalizers ?? [];
  const added = (metadata.finalizers ?? []).filter((finalizer) => !known.includes(finalizer));
  if (added.length === 0) return [];
  const found = JSON.stringify(added);
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${found}`;
  return [{ field: 'metadata.finalizers', problem: 'FieldValueForbidden', detail }];
}

function validateName({ name }: DraftMeta, strategy: Strategy): readonly FieldError[] {
  const field = 'metadata.name';
  if (name === undefined || name === '') {
    return [{ field, problem: 'FieldValueRequired', detail: 'name or generateName is required' }];
  }
  if (strategy.isName(name)) return [];
  const detail =
    'a lowercase RFC 1123 name must consist of lower case alphanumeric characters, "-" or ".", and start and end with an alphanumeric character';
  return [{ field, problem: 'FieldValueInvalid', value: name, detail }];
}

function validateLabels(labels: Readonly<Record<string, string>>): readonly FieldError[] {
  return Object.entries(labels).flatMap(([key, value]): readonly FieldError[] => {
    const field = 'metadata.labels';
    const errors: FieldError[] = [];
    if (!isQualifiedName(key)) {
      errors.push({ field, problem: 'FieldValueInvalid', value: key, detail: 'name part must be a qualified name' });
    }
    if (!isLabelValue(value)) {
      errors.push({
        field,
        problem: 'FieldValueInvalid',
        value,
        detail: 'a valid label must be an empty string or a name',
      });
    }
    return errors;
  });
}

function validateAnnotations(annotations: Readonly<Record<string, string>>): readonly FieldError[] {
  const field = 'metadata.annotations';
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    // Upstream lowers the key before it looks: capital letters are fine in a prefix here.
    if (!isQualifiedName(key.toLowerCase())) errors.push({ field, problem: 'FieldValueInvalid', value: key });
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > annotationBytesMax) {
    errors.push({ field, problem: 'FieldValueTooLong', detail: `may not be more than ${annotationBytesMax} bytes` });
  }
  return errors;
}

function validateOwners(owners: readonly JsonMap[]): readonly FieldError[] {
  const errors = owners.flatMap((owner) =>
    ['apiVersion', 'kind', 'name', 'uid']
      .filter((field) => textAt(owner, field) === '')
      .map(
        (field): FieldError => ({
          field: `metadata.ownerReferences.${field}`,
          problem: 'FieldValueInvalid',
          value: '',
          detail: 'must not be empty',
        }),
      ),
  );
  if (owners.filter((owner) => owner['controller'] === true).length > 1) {
    const detail = 'Only one reference can have Controller set to true';
    errors.push({ field: 'metadata.ownerReferences', problem: 'FieldValueInvalid', value: owners, detail });
  }
  return errors;
}

function validateFinalizers(finalizers: readonly string[]): readonly FieldError[] {
  return finalizers.flatMap((value, index): readonly FieldError[] => {
    if (coreFinalizers.has(value) || (value.includes('/') && isQualifiedName(value))) return [];
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    return [{ field: `metadata.finalizers[${index}]`, problem: 'FieldValueInvalid', value, detail }];
  });
}

/** Drops owners that were named twice and says so; upstream answers with a warning, too. */
export function dropRepeatedOwners(metadata: DraftMeta): readonly string[] {
  const owners = metadata.ownerReferences ?? [];
  const single = owners.filter((owner, index) => owners.findIndex((other) => sameValue(other, owner)) === index);
  if (single.length === owners.length) return [];
  metadata.ownerReferences = single;
  return ['.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+'];
}
