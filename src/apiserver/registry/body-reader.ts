/** From a decoded request body to a draft of the stored form: right kind, right names, only fields that exist. */
import type { ApiError } from '../../api/api-error.ts';
import type { Draft, JsonMap } from '../storage/stored-object.ts';
import { asCoreEvent } from './event-forms.ts';
import { badRequest, type FieldError, invalid } from './refusals.ts';
import { apiVersionOfTarget, speaksNewerEvents, type Target } from './request-target.ts';
import { isRecord } from './strategy.ts';
import { toWireForm, type WireForm, WireFormError } from './wire-form.ts';
import { wireMessageOf } from './wire-types.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface ReadBody {
  readonly draft: Draft;
  readonly warnings: readonly string[];
}

/** How a body is refused that cannot be what it should: whose fault it is depends on how it came about. */
type Refuse = (target: Target, why: string) => ApiError;

/** Throws a 400 ApiError for a body that is not an object of the target's kind. */
export function readBody(
  body: unknown,
  target: Target,
  validation: FieldValidation,
  refuse: Refuse = refuseBody,
): ReadBody {
  if (!isRecord(body)) throw badRequest('the body of the request is not an object');
  assertKind(body, target, refuse);
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = body;
  const form = read({ ...fields, metadata: fields['metadata'] ?? {} }, target, refuse);
  const problems = form.unknown.map((path) => `unknown field "${path}"`);
  if (validation === 'Strict' && problems.length > 0) {
    throw refuse(target, `strict decoding error: ${problems.join(', ')}`);
  }
  const draft = asDraft(form.object);
  return {
    draft: speaksNewerEvents(target) ? asCoreEvent(draft) : draft,
    warnings: validation === 'Warn' ? problems : [],
  };
}

function read(fields: JsonMap, target: Target, refuse: Refuse): WireForm {
  try {
    return toWireForm(wireMessageOf(apiVersionOfTarget(target), target.served.kind), fields);
  } catch (error) {
    if (error instanceof WireFormError) throw refuse(target, error.message);
    throw error;
  }
}

/** The patched object does not exist as such on the client's side: the error is about the patch (upstream `patcher`). */
export function refusePatched(_target: Target, why: string): ApiError {
  const error: FieldError = { field: 'patch', problem: 'FieldValueInvalid', value: 'the patched object', detail: why };
  return invalid({ group: '', name: '' }, '', [error]);
}

function refuseBody({ served: { kind, version } }: Target, why: string): ApiError {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

function assertKind(body: JsonMap, target: Target, refuse: Refuse): void {
  const expected = apiVersionOfTarget(target);
  const { apiVersion, kind } = body;
  if (typeof apiVersion === 'string' && apiVersion !== '' && apiVersion !== expected) {
    const why = `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`;
    throw refuse(target, why);
  }
  if (typeof kind === 'string' && kind !== '' && kind !== target.served.kind) {
    throw refuse(target, `the kind in the data (${kind}) does not match the expected kind (${target.served.kind})`);
  }
}

function asDraft(object: JsonMap): Draft {
  const draft: Draft = { ...object, metadata: isRecord(object['metadata']) ? object['metadata'] : {} };
  // Nothing here tracks field managers: what clients send of it is accepted and dropped.
  delete draft.metadata['managedFields'];
  delete draft.metadata['selfLink'];
  return draft;
}

/** Throws a 400 ApiError where the body names another object than the URL; fills in what the body leaves out. */
export function alignNames(draft: Draft, target: Target): void {
  const { metadata } = draft;
  if (target.name !== undefined) {
    metadata.name ??= target.name;
    if (metadata.name !== target.name) {
      throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${target.name})`);
    }
  }
  if (target.namespace === undefined) {
    delete metadata.namespace;
    return;
  }
  metadata.namespace ??= target.namespace;
  if (metadata.namespace !== target.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}
