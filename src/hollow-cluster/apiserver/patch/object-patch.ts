/** The three patch types, each applied to a private copy: a patch that fails halfway changes nothing. */
import { ownValue, setOwn } from '../../../machinery/api/json-map.ts';
import { isMap, mapAt, type MutableJsonMap } from '../../../machinery/api/select-field.ts';
import { type Draft, isDraft } from '../storage/stored-object.ts';
import { applyJsonPatch, JsonPatchProblem } from './apply-json-patch.ts';
import { mergeRulesOf } from './patch-strategies.ts';
import { mergeStrategic, PatchProblem } from './merge-strategic.ts';
import { badRequest, statusError } from '../api-errors/api-errors.ts';

export type PatchKind = 'json' | 'merge' | 'strategic-merge';

/** Upstream `maxJSONPatchOperations`. */
const jsonPatchOperationsMax = 10_000;

export interface ObjectPatch {
  readonly type: PatchKind;
  readonly body: unknown;
}

/** Whether the patch may read or change `metadata.managedFields`. */
export function touchesManagers({ type, body }: ObjectPatch): boolean {
  if (type !== 'json') return isMap(body) && isMap(body['metadata']) && 'managedFields' in body['metadata'];
  if (!Array.isArray(body)) return false;
  return body.some(
    (operation: unknown) => isMap(operation) && ['path', 'from'].some((at) => coversManagers(ownValue(operation, at))),
  );
}

function coversManagers(path: unknown): boolean {
  return (
    path === '' || path === '/metadata' || (typeof path === 'string' && path.startsWith('/metadata/managedFields'))
  );
}

/** The patched object; `draft`, which has its kind, may be consumed. Throws an ApiError (400, 413, 422 or 500, as upstream). */
export function patchObject(draft: Draft, patch: ObjectPatch): Draft {
  if (patch.type === 'json') return jsonPatch(draft, patch.body);
  if (!isMap(patch.body)) throw badRequest('error decoding patch: the body is not a JSON object');
  const patched = patch.type === 'merge' ? mergeDocuments(draft, patch.body) : strategic(draft, patch.body);
  return asDraft(patched);
}

/** JSON merge patch (RFC 7386): null deletes, objects merge, other values replace, lists included. */
export function mergeDocuments(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const merged = { ...mapAt(target) };
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else setOwn(merged, field, mergeDocuments(ownValue(merged, field), value));
  }
  return merged;
}

function jsonPatch(draft: Draft, body: unknown): Draft {
  if (!Array.isArray(body)) throw badRequest('error decoding patch: the body is not a JSON array of operations');
  if (body.length > jsonPatchOperationsMax) {
    const message = `The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${body.length}`;
    throw statusError(413, 'RequestEntityTooLarge', message);
  }
  return asDraft(patchByOperations(draft, body));
}

function patchByOperations(draft: Draft, operations: readonly unknown[]): unknown {
  try {
    return applyJsonPatch(draft, operations);
  } catch (error) {
    if (!(error instanceof JsonPatchProblem)) throw error;
    // As upstream, which does not say which operation failed.
    throw statusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
  }
}

function strategic(draft: Draft, body: MutableJsonMap): unknown {
  const { apiVersion = '', kind = '' } = draft;
  try {
    return mergeStrategic(draft, body, mergeRulesOf(apiVersion, kind));
  } catch (error) {
    if (!(error instanceof PatchProblem)) throw error;
    throw error.malformed ? badRequest(error.message) : statusError(500, '', error.message);
  }
}

function asDraft(value: unknown): Draft {
  if (isDraft(value)) return value;
  throw badRequest('the patched value is not an object with metadata');
}
