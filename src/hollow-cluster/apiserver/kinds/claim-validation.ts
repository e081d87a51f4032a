/** The claims of StatefulSets (upstream `ValidatePersistentVolumeClaimSpec`). */
import { type FieldError, invalidField, requiredField, unsupportedField } from '../api-errors/field-errors.ts';
import { mapAt, type MutableJsonMap } from '../select-field.ts';
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

function validateModes(modes: readonly unknown[], field: string): readonly FieldError[] {
  return modes
    .filter((mode) => !accessModes.some((known) => known === mode))
    .map((mode) => unsupportedField(field, mode, accessModes));
}

function validateSize(size: unknown, field: string): readonly FieldError[] {
  if (typeof size !== 'string') return [requiredField(field)];
  return compareQuantities(size, '0') > 0 ? [] : [invalidField(field, size, 'must be greater than zero')];
}
