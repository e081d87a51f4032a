/** Patches, and what a strict decoding reports about them (upstream `handlers/patch.go`). */
import { stringifyExact } from '../codec/parse-exact-json.ts';
import { badRequest } from '../api-errors/api-errors.ts';
import { findListProblems, findStrictProblems } from '../codec/find-strict-problems.ts';
import type { ObjectPatch, PatchKind } from '../patch/object-patch.ts';
import type { FieldValidation } from '../registry/body-reader.ts';
import { isMap } from '../select-field.ts';
import { parseJson } from './request-body.ts';

interface DecodedPatch extends ObjectPatch {
  /** Fields that occur twice, and unknown fields of operations; none if the validation is `Ignore`. */
  readonly problems: readonly string[];
}

const operationFields = ['op', 'path', 'from', 'value'] as const;
const textFields = ['op', 'path', 'from'] as const;

/** Throws a 400 ApiError for a body that is not a patch of this type. */
export function decodePatch(bytes: Buffer, type: PatchKind, validation: FieldValidation): DecodedPatch {
  const text = bytes.toString();
  const prefix = type === 'strategic-merge' ? '' : 'error decoding patch: ';
  const body = parseJson(text, (why) => badRequest(`${prefix}${why}`));
  const problem = type === 'json' ? findOperationProblem(body) : findMapProblem(body);
  if (problem !== undefined) throw badRequest(`${prefix}json: cannot unmarshal ${problem}`);
  if (body === null && type === 'merge') throw badRequest('Invalid JSON Patch');
  return {
    type,
    body: body ?? (type === 'json' ? [] : {}),
    problems: validation === 'Ignore' ? [] : problemsOf(text, body, type),
  };
}

function problemsOf(text: string, body: unknown, type: PatchKind): readonly string[] {
  if (type === 'json') return findListProblems(text, operationFields).map((problem) => `json patch ${problem}`);
  return stringifyExact(body) === text ? [] : findStrictProblems(text, undefined);
}

function findMapProblem(body: unknown): string | undefined {
  return body === null || isMap(body) ? undefined : `${typeName(body)} into Go value of type map[string]interface {}`;
}

function findOperationProblem(body: unknown): string | undefined {
  if (body === null) return undefined;
  if (!Array.isArray(body)) return `${typeName(body)} into Go value of type []handlers.jsonPatchOp`;
  for (const operation of body) {
    if (operation === null) continue;
    if (!isMap(operation)) return `${typeName(operation)} into Go value of type handlers.jsonPatchOp`;
    const wrong = textFields.find((field) => typeof (operation[field] ?? '') !== 'string');
    if (wrong !== undefined) {
      return `${typeName(operation[wrong])} into Go struct field jsonPatchOp.${wrong} of type string`;
    }
  }
  return undefined;
}

/** Type of a JSON value as Go names it. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
