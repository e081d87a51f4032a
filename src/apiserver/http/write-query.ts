/** The options of writes: from the query, for deletions also from the body. */
import { isAbsent } from '../../api/json-map.ts';
import type { FieldValidation } from '../registry/body-reader.ts';
import type { DeleteRequest, WriteOptions } from '../registry/object-registry.ts';
import { invalidOptions } from '../api-errors/api-errors.ts';
import { type FieldError, forbiddenField, invalidField, unsupportedField } from '../api-errors/field-errors.ts';
import { isMap, type MutableJsonMap, textAt } from '../select-field.ts';

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

const propagations = ['Background', 'Foreground', 'Orphan'] as const;

/** Throws a 422 ApiError for unsupported values. */
export function parseWriteOptions(query: URLSearchParams, kind: OptionsKind): WriteOptions {
  const validation = query.get('fieldValidation') ?? '';
  const dryRun = query.getAll('dryRun');
  const errors = validateDryRun(dryRun);
  if (kind === 'PatchOptions' && query.has('force')) {
    // `force` requires server-side apply.
    errors.push(forbiddenField('force', 'may not be specified for non-apply patch'));
  }
  if (!isValidation(validation)) {
    errors.push(unsupportedField('fieldValidation', validation, ['Ignore', 'Strict', 'Warn']));
  }
  if (errors.length > 0) throw invalidOptions(kind, errors);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: isValidation(validation) && validation !== '' ? validation : 'Warn',
  };
}

function isValidation(text: string): text is FieldValidation | '' {
  return ['', 'Ignore', 'Warn', 'Strict'].includes(text);
}

function validateDryRun(values: readonly unknown[]): FieldError[] {
  return values.every((value) => value === 'All') ? [] : [unsupportedField('dryRun', values, ['All'])];
}

/** The options of a non-empty body, otherwise those of the query: never both (upstream `handlers/delete.go`). */
export function parseDeleteRequest(query: URLSearchParams, body: unknown): DeleteRequest {
  const options = body === undefined ? fromQuery(query) : body;
  if (!isMap(options)) return { dryRun: false };
  const dryRun = Array.isArray(options['dryRun']) ? options['dryRun'] : [];
  const errors = [...validateDryRun(dryRun), ...validatePropagation(options)];
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors);
  const grace = options['gracePeriodSeconds'];
  return {
    dryRun: dryRun.length > 0,
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    uid: textAt(options, 'preconditions', 'uid') || undefined,
    resourceVersion: textAt(options, 'preconditions', 'resourceVersion') || undefined,
    propagation: propagationOf(options),
  };
}

function fromQuery(query: URLSearchParams): MutableJsonMap {
  const grace = query.get('gracePeriodSeconds');
  const orphan = query.get('orphanDependents');
  return {
    dryRun: query.getAll('dryRun'),
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(orphan === null ? {} : { orphanDependents: orphan === 'true' }),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
  };
}

function validatePropagation(options: MutableJsonMap): readonly FieldError[] {
  const { propagationPolicy: policy, orphanDependents: orphan } = options;
  if (isAbsent(policy)) return [];
  if (!isAbsent(orphan)) {
    return [invalidField('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set')];
  }
  if (propagations.some((known) => known === policy)) return [];
  return [unsupportedField('propagationPolicy', policy, propagations)];
}

function propagationOf(options: MutableJsonMap): DeleteRequest['propagation'] {
  const { orphanDependents: orphan } = options;
  if (typeof orphan === 'boolean') return orphan ? 'Orphan' : 'Background';
  return propagations.find((known) => known === options['propagationPolicy']);
}
