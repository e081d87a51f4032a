/** PersistentVolumeClaims, and the claims in other kinds (upstream `ValidatePersistentVolumeClaimSpec`). */
import { sameJson } from '../../../machinery/api/same-json.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../api-errors/field-errors.ts';
import { mapAt, type MutableJsonMap, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { checkOneOf, checkOptional, checkSelector } from '../validation/field-checks.ts';
import { explainSubdomain } from '../validation/formats.ts';
import { compareQuantities } from '../validation/resources.ts';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'] as const;
const volumeModes = ['Block', 'Filesystem'] as const;

export function validateClaimSpec(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const modes: readonly unknown[] = Array.isArray(spec['accessModes']) ? spec['accessModes'] : [];
  const none = modes.length === 0 ? [requiredField(`${path}.accessModes`, 'at least 1 access mode is required')] : [];
  return [
    ...none,
    ...validateModes(modes, `${path}.accessModes`),
    ...checkSelector(`${path}.selector`, spec['selector']),
    ...validateSize(mapAt(spec, 'resources', 'requests')['storage'], `${path}.resources[storage]`),
    ...checkOptional(spec, 'storageClassName', path, explainSubdomain),
    ...checkOneOf(spec, 'volumeMode', path, volumeModes),
  ];
}

/** Of a claim or of a volume. */
function validateModes(modes: readonly unknown[], field: string): readonly FieldError[] {
  return modes
    .filter((mode) => !accessModes.some((known) => known === mode))
    .map((mode) => unsupportedField(field, mode, accessModes));
}

function validateSize(size: unknown, field: string): readonly FieldError[] {
  if (typeof size !== 'string') return [requiredField(field)];
  return compareQuantities(size, '0') > 0 ? [] : [invalidField(field, size, 'must be greater than zero')];
}

/** A bound claim may grow; otherwise only the name of the volume may be set. */
export function validateClaimChange(draft: Draft, stored: Draft): readonly FieldError[] {
  const [after, before] = [draft.spec ?? {}, stored.spec ?? {}];
  const isBound = textAt(stored.status, 'phase') === 'Bound';
  const changeable = [
    ...(textAt(before, 'volumeName') === '' ? ['volumeName'] : []),
    ...(isBound ? ['resources', 'volumeAttributesClassName'] : []),
  ];
  const fixedPart = (spec: MutableJsonMap): MutableJsonMap =>
    Object.fromEntries(Object.entries(spec).filter(([field]) => !changeable.includes(field)));
  if (sameJson(fixedPart(after), fixedPart(before))) return validateGrowth(after, before);
  const why =
    'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  return [forbiddenField('spec', why)];
}

function validateGrowth(after: MutableJsonMap, before: MutableJsonMap): readonly FieldError[] {
  const sizeOf = (spec: MutableJsonMap): string => textAt(spec, 'resources', 'requests', 'storage') || '0';
  if (compareQuantities(sizeOf(after), sizeOf(before)) >= 0) return [];
  return [forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

const reclaimPolicies = ['Delete', 'Recycle', 'Retain'] as const;
/** Fields of a volume beside its source. */
const volumeFields: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

export function validateVolume({ spec = {} }: Draft): readonly FieldError[] {
  const modes: readonly unknown[] = Array.isArray(spec['accessModes']) ? spec['accessModes'] : [];
  const [first, ...more] = Object.keys(spec).filter((field) => !volumeFields.has(field));
  return [
    ...(modes.length === 0 ? [requiredField('spec.accessModes')] : validateModes(modes, 'spec.accessModes')),
    ...validateCapacity(spec['capacity']),
    ...(first === undefined ? [requiredField('spec', 'must specify a volume type')] : []),
    ...more.map((field) => forbiddenField(`spec.${field}`, 'may not specify more than 1 volume type')),
    ...checkOneOf(spec, 'persistentVolumeReclaimPolicy', 'spec', reclaimPolicies),
    ...checkOptional(spec, 'storageClassName', 'spec', explainSubdomain),
    ...checkOneOf(spec, 'volumeMode', 'spec', volumeModes),
  ];
}

function validateCapacity(capacity: unknown): readonly FieldError[] {
  const entries = Object.entries(mapAt({ capacity }, 'capacity'));
  const only = entries.length === 1 && entries[0]?.[0] === 'storage';
  if (only) return validateSize(entries[0]?.[1], 'spec.capacity[storage]');
  return [
    ...(entries.length === 0 ? [requiredField('spec.capacity')] : []),
    unsupportedField('spec.capacity', capacity ?? null, ['storage']),
  ];
}
