/** The options of writes, from the query. */
import type { FieldValidation } from '../registry/body-reader.ts';
import type { ApplyOptions, WriteOptions } from '../registry/object-registry.ts';
import { invalidOptions } from '../api-errors/api-errors.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
  unsupportedField,
} from '../api-errors/field-errors.ts';

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

/** Upstream `FieldManagerMaxLength`, in bytes. */
const managerBytesMax = 128;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** `userAgent` names the manager if the query does not. Throws a 422 ApiError for unsupported values. */
export function parseWriteOptions(
  query: URLSearchParams,
  kind: OptionsKind,
  userAgent: string,
): WriteOptions & { readonly manager: string } {
  // `force` requires server-side apply.
  const forced = kind === 'PatchOptions' && query.has('force');
  const errors = forced ? [forbiddenField('force', 'may not be specified for non-apply patch')] : [];
  return parseOptions(query, kind, errors, userAgent);
}

/** Options of an apply, which must name its manager. Throws a 422 ApiError for invalid ones. */
export function parseApplyOptions(query: URLSearchParams): ApplyOptions {
  const missing = (query.get('fieldManager') ?? '') === '';
  const errors = missing ? [requiredField('fieldManager', 'is required for apply patch')] : [];
  const force = !['', 'false', '0'].includes(query.get('force') ?? '');
  return { ...parseOptions(query, 'PatchOptions', errors, ''), force };
}

function parseOptions(
  query: URLSearchParams,
  kind: OptionsKind,
  found: readonly FieldError[],
  userAgent: string,
): WriteOptions & { readonly manager: string } {
  const validation = query.get('fieldValidation') ?? '';
  const dryRun = query.getAll('dryRun');
  const manager = query.get('fieldManager') ?? '';
  const errors = [...found, ...validateManager(manager), ...validateDryRun(dryRun)];
  if (!isValidation(validation)) {
    errors.push(unsupportedField('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (errors.length > 0) throw invalidOptions(kind, errors);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: isValidation(validation) && validation !== '' ? validation : 'Warn',
    manager: manager === '' ? managerOf(userAgent) : manager,
  };
}

function validateManager(manager: string): readonly FieldError[] {
  const long = Buffer.byteLength(manager) > managerBytesMax;
  const errors = long ? [tooLongField('fieldManager', `may not be more than ${managerBytesMax} bytes`)] : [];
  let position = 0;
  for (const character of manager) {
    if (!printable.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalidField('fieldManager', manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

/** What a User-Agent says before the first slash (upstream `prefixFromUserAgent`). */
function managerOf(userAgent: string): string {
  const [prefix = ''] = userAgent.split('/', 1);
  let manager = '';
  for (const character of prefix) {
    if (!printable.test(character)) continue;
    if (Buffer.byteLength(manager) + Buffer.byteLength(character) > managerBytesMax) break;
    manager += character;
  }
  return manager;
}

function isValidation(text: string): text is FieldValidation | '' {
  return ['', 'Ignore', 'Warn', 'Strict'].includes(text);
}

/** `dryRun` may only be `All`, any number of times. */
export function validateDryRun(values: readonly unknown[]): FieldError[] {
  return values.every((value) => value === 'All') ? [] : [unsupportedField('dryRun', values, ['All'])];
}
