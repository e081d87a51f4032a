/** Patches, and what a strict decoding reports about them (upstream `handlers/patch.go`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { badRequest } from '../api-errors/api-errors.ts';
import type { ObjectPatch, PatchKind } from '../patch/object-patch.ts';
import { isMap } from '../select-field.ts';
import { parseJson, repeatedIn } from './request-body.ts';

interface DecodedPatch extends ObjectPatch {
  /** Messages about keys that occur twice. */
  readonly problems: readonly string[];
}

/** Throws a 400 ApiError for a body that is not a patch of this type. */
export function decodePatch(bytes: Buffer, type: PatchKind): DecodedPatch {
  const text = bytes.toString();
  const body = parseJson(text, (why) => badRequest(`error decoding patch: ${why}`));
  const isPatch = type === 'json' ? Array.isArray(body) && body.every(isOperation) : isMap(body);
  if (!isPatch)
    throw badRequest(`error decoding patch: must be ${type === 'json' ? 'a list of operations' : 'an object'}`);
  return { type, body, problems: repeatedIn(text, body) };
}

function isOperation(operation: unknown): boolean {
  return (
    isMap(operation) && ['op', 'path', 'from'].every((field) => typeof (ownValue(operation, field) ?? '') === 'string')
  );
}
