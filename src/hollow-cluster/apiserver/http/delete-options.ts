/** The options of a deletion, from its body or its query (upstream `handlers/delete.go`). */
import { isAbsent } from '../../../machinery/api/json-map.ts';
import { badRequest, invalidOptions } from '../api-errors/api-errors.ts';
import { type FieldError, invalidField, unsupportedField } from '../api-errors/field-errors.ts';
import { readForm } from '../registry/body-reader.ts';
import type { DeleteRequest } from '../registry/object-registry.ts';
import { isSet, integerOf } from '../registry/list-query.ts';
import { isMap, type MutableJsonMap, numberAt, textAt } from '../../../machinery/api/select-field.ts';
import { decodeBody } from './request-body.ts';
import { validateDryRun } from './write-query.ts';

const optionsKind = { group: '', version: 'v1', kind: 'DeleteOptions' } as const;
const propagations = ['Foreground', 'Background', 'Orphan'] as const;

/** The options of a body. Throws a 400 ApiError for another kind, or a value of another type; 415 for another format. */
export function decodeDeleteOptions(bytes: Buffer, contentType: string): MutableJsonMap {
  const { value: body } = decodeBody(bytes, contentType, optionsKind);
  if (!isMap(body)) return {};
  const { kind = 'DeleteOptions', apiVersion = 'v1', ...fields } = body;
  if (kind !== 'DeleteOptions') {
    throw badRequest(`the options of a deletion must be DeleteOptions (got ${String(apiVersion)} ${String(kind)})`);
  }
  return readForm(fields, optionsKind, badRequest).object;
}

/** The options of a body, otherwise those of the query: never both. Throws 400 and 422 ApiErrors. */
export function parseDeleteRequest(query: URLSearchParams, body: MutableJsonMap | undefined): DeleteRequest {
  const options = body ?? fromQuery(query);
  const dryRun = Array.isArray(options['dryRun']) ? options['dryRun'] : [];
  const errors = [...validatePropagation(options), ...validateDryRun(dryRun)];
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors);
  const grace = options['gracePeriodSeconds'];
  return {
    dryRun: dryRun.length > 0,
    gracePeriodSeconds: isAbsent(grace) ? undefined : numberAt(options, 'gracePeriodSeconds'),
    uid: textAt(options, 'preconditions', 'uid') || undefined,
    resourceVersion: textAt(options, 'preconditions', 'resourceVersion') || undefined,
    propagation: propagationOf(options),
  };
}

function fromQuery(query: URLSearchParams): MutableJsonMap {
  return {
    dryRun: query.getAll('dryRun'),
    ...(query.has('gracePeriodSeconds') ? { gracePeriodSeconds: integerOf(query, 'gracePeriodSeconds') } : {}),
    ...(query.has('orphanDependents') ? { orphanDependents: isSet(query, 'orphanDependents') } : {}),
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
  return [unsupportedField('propagationPolicy', policy, [...propagations, 'nil'])];
}

function propagationOf(options: MutableJsonMap): DeleteRequest['propagation'] {
  const { orphanDependents: orphan } = options;
  if (typeof orphan === 'boolean') return orphan ? 'Orphan' : 'Background';
  return propagations.find((known) => known === options['propagationPolicy']);
}
