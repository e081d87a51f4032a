/** Reads a request body and converts it to JSON values, from any supported format. */
import { exactInteger, parseExactJson, stringifyExact } from '../codec/parse-exact-json.ts';
import { findTypeProblem } from '../codec/body-kind.ts';
import { decodeProtobufBody, protobufContentType } from '../codec/protobuf-body.ts';
import { ownValue } from '../../../machinery/api/json-map.ts';
import { depthMax, findRepeatedKeys, isTooDeep, type RepeatedKey } from '../../../machinery/yaml/json-reader.ts';
import { YamlProblem } from '../../../machinery/yaml/value-builder.ts';
import { readYaml, type YamlDocument } from '../../../machinery/yaml/yaml-reader.ts';
import { badRequest, statusError } from '../api-errors/api-errors.ts';
import type { ObjectPatch, PatchKind } from '../patch/object-patch.ts';
import { apiVersionOf, type GroupVersionKind } from '../resources.ts';
import { isMap, type MutableJsonMap } from '../../../machinery/api/select-field.ts';
import { bodyTypeOf } from './accept.ts';
import { type Exchange, headerOf, type Incoming } from './exchange.ts';

const bodyTypes = ['application/json', 'application/yaml', protobufContentType] as const;
/** Upstream `MaxRequestBodyBytes`. */
const bodyBytesMax = 3 * 1024 * 1024;

/**
 * Rejects with a 413 ApiError as soon as the body is too large; the rest is read and discarded. Rejects when the signal
 * aborts: a write whose body arrives later is not carried out.
 */
export async function readBytes({ incoming, signal }: Pick<Exchange, 'incoming' | 'signal'>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  if (Number(headerOf(incoming, 'content-length')) > bodyBytesMax) throw tooLarge(incoming);
  return new Promise((resolve, reject) => {
    incoming.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > bodyBytesMax) reject(tooLarge(incoming));
      else parts.push(part);
    });
    incoming.once('end', () => resolve(Buffer.concat(parts, Math.min(bytes, bodyBytesMax))));
    incoming.once('error', (error) => reject(badRequest(`the body could not be read: ${error.message}`)));
    const abort = (): void => reject(badRequest('the request ended before its body was complete'));
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    incoming.once('close', () => {
      if (!incoming.readableEnded) reject(badRequest('the body ended before it was complete'));
    });
  });
}

function tooLarge(incoming: Incoming): Error {
  incoming.resume();
  return statusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${bodyBytesMax}`);
}

/** A decoded body. */
export interface RequestBody {
  readonly value: unknown;
  /** Messages about keys that occur twice. */
  readonly repeated: readonly string[];
}

/** Throws a 400 ApiError for a body that does not match its content type, 415 for an unsupported type. */
export function decodeBody(bytes: Buffer, contentType: string, expected: GroupVersionKind): RequestBody {
  switch (bodyTypeOf(contentType)) {
    case '':
    case 'application/json':
      return checkType(decodeJsonBody(bytes, expected), expected);
    case 'application/yaml':
      return checkType(decodeYamlBody(bytes, expected), expected);
    case protobufContentType:
      return {
        value: decodeProtobufBody(bytes, { apiVersion: apiVersionOf(expected), kind: expected.kind }),
        repeated: [],
      };
    default:
      throw unsupported('the body of the request was in an unknown format', bodyTypes);
  }
}

const exactNumbers = { parseJson: parseExactJson, integer: exactInteger } as const;

function unrecognized({ kind }: GroupVersionKind, why: string): Error {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why}`);
}

function decodeJsonBody(bytes: Buffer, expected: GroupVersionKind): RequestBody {
  const text = bytes.toString();
  const value = parseJson(text, (why) => unrecognized(expected, why));
  return { value, repeated: repeatedIn(text, value) };
}

function decodeYamlBody(bytes: Buffer, expected: GroupVersionKind): RequestBody {
  try {
    const { value, repeated } = readYaml(bytes.toString(), 'kubernetes', exactNumbers);
    return { value, repeated: repeated.map(describeRepeated) };
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    throw unrecognized(expected, `yaml: ${error.message}`);
  }
}

/** Text of a repeated key as in the message of kube-apiserver. */
function describeRepeated({ key, line }: RepeatedKey): string {
  return `line ${line}: key ${JSON.stringify(key)} already set in map`;
}

function checkType(body: RequestBody, expected: GroupVersionKind): RequestBody {
  const problem = findTypeProblem(body.value);
  if (problem !== undefined) throw unrecognized(expected, problem);
  return { ...body, value: body.value ?? {} };
}

export function unsupported(why: string, accepted: readonly string[]): Error {
  return statusError(415, 'UnsupportedMediaType', `${why} - accepted media types include: ${accepted.join(', ')}`);
}

/** Messages about the keys that occur twice in the JSON text of a value. */
function repeatedIn(text: string, value: unknown): readonly string[] {
  // A text that is written as this process writes the value has no key twice, as that of most clients.
  return stringifyExact(value) === text ? [] : findRepeatedKeys(text).map(describeRepeated);
}

/** The value of a JSON text. Throws the error that `buildError` makes of a syntax error, or of too many levels. */
function parseJson(text: string, buildError: (problem: string) => Error): unknown {
  try {
    const value = parseExactJson(text);
    if (!isTooDeep(text, value)) return value;
  } catch (error) {
    if (error instanceof SyntaxError) throw buildError(error.message);
    throw error;
  }
  throw buildError(`exceeded max depth of ${depthMax}`);
}

interface ApplyBody {
  readonly value: MutableJsonMap;
  /** Messages about keys that occur twice. */
  readonly repeated: readonly string[];
}

/**
 * The configuration of an apply, in YAML or JSON. Throws a 400 ApiError; for duplicate keys only if `strict` (upstream
 * `applyPatcher`).
 */
export function decodeApply(bytes: Buffer, strict: boolean): ApplyBody {
  const { value, repeated } = parseApply(bytes);
  const messages = repeated.map(describeRepeated);
  if (strict && messages.length > 0) {
    const lines = messages.map((line) => `  ${line}`).join('\n');
    throw badRequest(`error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n${lines}`);
  }
  if (isMap(value)) return { value, repeated: messages };
  if (value === null || value === undefined) return { value: {}, repeated: [] };
  throw badRequest('error decoding patch: must be an object');
}

function parseApply(bytes: Buffer): YamlDocument {
  try {
    return readYaml(bytes.toString(), 'kubernetes', exactNumbers);
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    throw badRequest(`error encoding patch: yaml: ${error.message}`);
  }
}

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
