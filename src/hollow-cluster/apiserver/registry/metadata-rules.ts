/** Metadata of objects: generated names and uids, and validation (upstream `apimachinery/pkg/api/validation/objectmeta.go`). */
import type { Draft, DraftMeta } from '../storage/stored-object.ts';
import { canonicalJson } from '../../../machinery/api/json-map.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
} from '../api-errors/field-errors.ts';
import { type MutableJsonMap, textAt } from '../../../machinery/api/select-field.ts';
import {
  annotationBytesMax,
  annotationBytesOf,
  checkAnnotationKeys,
  checkFormat,
  checkLabels,
} from '../validation/field-checks.ts';
import { explainQualifiedName } from '../validation/formats.ts';
import type { Strategy } from '../kinds/strategy.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';

/** The only finalizers without a domain. */
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
    ...checkLabels('metadata.labels', metadata.labels),
    ...validateAnnotations(metadata.annotations ?? {}),
    ...validateOwners(metadata.ownerReferences ?? []),
    ...validateFinalizers(metadata.finalizers ?? []),
  ];
}

export function validateMetadataUpdate(draft: Draft, stored: Draft): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const field of immutable) {
    const value = draft.metadata[field] ?? '';
    if (value !== (stored.metadata[field] ?? ''))
      errors.push(invalidField(`metadata.${field}`, value, 'field is immutable'));
  }
  return [...errors, ...validateNewFinalizers(draft.metadata, stored.metadata)];
}

function validateNewFinalizers(metadata: DraftMeta, stored: DraftMeta): readonly FieldError[] {
  if (stored.deletionTimestamp === undefined) return [];
  const known = new Set(stored.finalizers ?? []);
  const added = (metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer));
  if (added.length === 0) return [];
  const found = JSON.stringify(added);
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${found}`;
  return [forbiddenField('metadata.finalizers', detail)];
}

function validateName({ name }: DraftMeta, strategy: Strategy): readonly FieldError[] {
  const field = 'metadata.name';
  if (name === undefined || name === '') {
    return [requiredField(field, 'name or generateName is required')];
  }
  return checkFormat(field, name, strategy.explainName);
}

function validateAnnotations(annotations: Readonly<Record<string, string>>): readonly FieldError[] {
  const field = 'metadata.annotations';
  const errors = checkAnnotationKeys(field, annotations);
  if (annotationBytesOf(annotations) <= annotationBytesMax) return errors;
  return [...errors, tooLongField(field, `may not be more than ${annotationBytesMax} bytes`)];
}

function validateOwners(owners: readonly MutableJsonMap[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const owner of owners) {
    for (const field of ['apiVersion', 'kind', 'name', 'uid']) {
      if (textAt(owner, field) !== '') continue;
      errors.push(invalidField(`metadata.ownerReferences.${field}`, '', 'must not be empty'));
    }
  }
  if (owners.filter((owner) => owner['controller'] === true).length > 1) {
    errors.push(invalidField('metadata.ownerReferences', owners, 'Only one reference can have Controller set to true'));
  }
  return errors;
}

function validateFinalizers(finalizers: readonly string[]): readonly FieldError[] {
  return finalizers.flatMap((value, index) => {
    const errors = checkFormat('metadata.finalizers', value, explainQualifiedName);
    if (coreFinalizers.has(value) || value.includes('/')) return errors;
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    return [...errors, invalidField(`metadata.finalizers[${index}]`, value, detail)];
  });
}

/** Drops duplicate owners and returns the warning that upstream returns. */
export function dropRepeatedOwners(metadata: DraftMeta): readonly string[] {
  const owners = metadata.ownerReferences ?? [];
  if (owners.length < 2) return [];
  const unique = [...Map.groupBy(owners, canonicalJson).values()].flatMap((equal) => equal.slice(0, 1));
  if (unique.length === owners.length) return [];
  metadata.ownerReferences = unique;
  return ['.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+'];
}

/** Letters and digits that form no words and are not easily confused (upstream `util/rand`). */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
/** Upstream `maxGeneratedNameLength`: 63 less the suffix. */
const generateBaseMax = 58;
/** Maximum number of generated names to try. */
export const generateTriesMax = 8;

export function generateName(base: string, random: Random): string {
  let suffix = '';
  while (suffix.length < suffixLength) suffix += suffixAlphabet[Math.floor(random.next() * suffixAlphabet.length)];
  return base.slice(0, generateBaseMax) + suffix;
}

/** A version 4 UUID: 122 random bits. */
export function makeUid(random: Random): string {
  const digit = (): number => Math.floor(random.next() * 16);
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) =>
    (place === 'x' ? digit() : (digit() & 0x3) | 0x8).toString(16),
  );
}

/** What the garbage collector does with the dependents of a deleted object. */
export type Propagation = 'Background' | 'Foreground' | 'Orphan';

const gcFinalizers: Readonly<Record<string, string>> = { Foreground: 'foregroundDeletion', Orphan: 'orphan' };

/**
 * Sets the finalizers of the policy that the client asks for; true if they changed (upstream
 * `deletionFinalizersForGarbageCollection`). Without one, the garbage collector deletes the dependents.
 */
export function applyPropagation(draft: Draft, propagation: Propagation | undefined): boolean {
  if (propagation === undefined) return false;
  const before = draft.metadata.finalizers ?? [];
  const others = before.filter((finalizer) => !Object.values(gcFinalizers).includes(finalizer));
  const own = gcFinalizers[propagation];
  const after = own === undefined ? others : [...others, own];
  if (after.length > 0) draft.metadata.finalizers = after;
  else delete draft.metadata.finalizers;
  return !sameJson(before, after);
}
