/** The options of writes: in the query, and for deletions in the body. */
import type { FieldValidation } from '../registry/body-reader.ts';
import type { DeleteRequest, WriteOptions } from '../registry/object-registry.ts';
import { type FieldError, invalidOptions } from '../registry/refusals.ts';
import { isRecord, textAt } from '../registry/strategy.ts';

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

const propagations = ['Background', 'Foreground', 'Orphan'] as const;

/** Throws a 422 ApiError for values that do not exist. */
export function parseWriteOptions(query: URLSearchParams, kind: OptionsKind): WriteOptions {
  const validation = query.get('fieldValidation') ?? '';
  const errors = [...validateDryRun(query.getAll('dryRun')), ...validateForce(query, kind)];
  if (!isValidation(validation)) {
    const detail = 'supported values: "Ignore", "Strict", "Warn"';
    errors.push({ field: 'fieldValidation', problem: 'FieldValueNotSupported', value: validation, detail });
  }
  if (errors.length > 0) throw invalidOptions(kind, errors);
  return {
    dryRun: query.getAll('dryRun').length > 0,
    fieldValidation: isValidation(validation) && validation !== '' ? validation : 'Warn',
  };
}

function isValidation(text: string): text is FieldValidation | '' {
  return ['', 'Ignore', 'Warn', 'Strict'].includes(text);
}

function validateDryRun(values: readonly unknown[]): FieldError[] {
  if (values.every((value) => value === 'All')) return [];
  return [{ field: 'dryRun', problem: 'FieldValueNotSupported', value: values, detail: 'supported values: "All"' }];
}

/** Only server-side apply can be forced. */
function validateForce(query: URLSearchParams, kind: OptionsKind): readonly FieldError[] {
  if (kind !== 'PatchOptions' || !query.has('force')) return [];
  return [{ field: 'force', problem: 'FieldValueForbidden', detail: 'may not be specified for non-apply patch' }];
}

/** The body's options if it has any bytes, else the query's: never both (upstream `handlers/delete.go`). */
export function parseDeleteRequest(query: URLSearchParams, body: unknown): DeleteRequest {
  const options = body === undefined ? fromQuery(query) : body;
  if (!isRecord(options)) return { dryRun: false };
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

function fromQuery(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const grace = query.get('gracePeriodSeconds');
  const orphan = query.get('orphanDependents');
  return {
    dryRun: query.getAll('dryRun'),
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(orphan === null ? {} : { orphanDependents: orphan === 'true' }),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
  };
}

function validatePropagation(options: Readonly<Record<string, unknown>>): readonly FieldError[] {
  const { propagationPolicy: policy, orphanDependents: orphan } = options;
  const field = 'propagationPolicy';
  if (policy === undefined || policy === null) return [];
  if (orphan !== undefined && orphan !== null) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    return [{ field, problem: 'FieldValueInvalid', value: policy, detail }];
  }
  if (propagations.some((known) => known === policy)) return [];
  const detail = 'supported values: "Background", "Foreground", "Orphan"';
  return [{ field, problem: 'FieldValueNotSupported', value: policy, detail }];
}

function propagationOf(options: Readonly<Record<string, unknown>>): DeleteRequest['propagation'] {
  const { orphanDependents: orphan } = options;
  if (typeof orphan === 'boolean') return orphan ? 'Orphan' : 'Background';
  return propagations.find((known) => known === options['propagationPolicy']);
}
