/** The three ways to patch an object, each on a private copy: a patch that fails halfway changes nothing. */
import { applyPatch, type Operation } from 'rfc6902';
import { type Draft, isDraft, type JsonMap } from '../storage/stored-object.ts';
import { mergeDocuments } from './merge-documents.ts';
import { mergeRulesOf } from './merge-rules.ts';
import { mergeStrategic, PatchProblem } from './merge-strategic.ts';
import { badRequest, refusal } from './refusals.ts';

export type PatchKind = 'json' | 'merge' | 'strategic-merge';

/** Upstream `maxJSONPatchOperations`. */
export const jsonPatchOperationsMax = 10_000;

export interface ObjectPatch {
  readonly type: PatchKind;
  readonly body: unknown;
}

/** The patched object; `draft` may be consumed. Throws an ApiError (400, 413, 422 or 500, as upstream). */
export function patchObject(draft: Draft, patch: ObjectPatch, kind: string): Draft {
  if (patch.type === 'json') return jsonPatch(draft, patch.body);
  if (!isMap(patch.body)) throw badRequest('error decoding patch: the body is not a JSON object');
  const patched = patch.type === 'merge' ? mergeDocuments(draft, patch.body) : strategic(draft, patch.body, kind);
  return asDraft(patched);
}

function jsonPatch(draft: Draft, body: unknown): Draft {
  if (!Array.isArray(body)) throw badRequest('error decoding patch: the body is not a JSON array of operations');
  if (body.length > jsonPatchOperationsMax) {
    const message = `The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${body.length}`;
    throw refusal(413, 'RequestEntityTooLarge', message);
  }
  if (!body.every(isOperation)) throw badRequest('error decoding patch: an operation has no op or no path');
  const failed = applyPatch(draft, body).find((problem) => problem !== null);
  if (failed !== undefined && failed !== null) throw rejected(failed.message);
  return asDraft(draft);
}

function strategic(draft: Draft, body: JsonMap, kind: string): unknown {
  try {
    return mergeStrategic(draft, body, mergeRulesOf(kind));
  } catch (error) {
    if (!(error instanceof PatchProblem)) throw error;
    throw error.malformed ? badRequest(error.message) : refusal(500, '', error.message);
  }
}

function isOperation(value: unknown): value is Operation {
  return isMap(value) && typeof value.op === 'string' && typeof value.path === 'string';
}

function asDraft(value: unknown): Draft {
  if (isDraft(value)) return value;
  throw badRequest('the patch leaves no object with metadata');
}

function rejected(why: string): Error {
  return refusal(422, 'Invalid', `the server rejected our request due to an error in our request: ${why}`, {});
}

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
