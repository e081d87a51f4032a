/**
 * Converts a JSON object to the form it has after Go decoded and encoded it: unknown fields are removed (and reported),
 * nulls and zero values are omitted where Go omits them, times have the precision of their type, and a value of the
 * wrong type is rejected.
 */
import { isInt64 } from './parse-exact-json.ts';
import { ownValue, setOwn } from '../../../machinery/api/json-map.ts';
import { canonicalQuantity } from '../../../machinery/api/quantity.ts';
import { formatTime, isCanonicalTime, parseTimestamp } from '../../../machinery/api/timestamps.ts';
import { isMap, type MutableJsonMap } from '../../../machinery/api/select-field.ts';
import { listMessageFields, type MessageField, messageFields, messageNameOf, textLists } from './message-table.ts';

export interface WireForm {
  readonly object: MutableJsonMap;
  /** Paths of unknown fields, as in `spec.containers[0].foo`. */
  readonly unknown: readonly string[];
}

/** A type whose JSON form is a single value. */
interface Scalar {
  readonly zero: unknown;
  /** Throws a {@link WireFormError} for an invalid value. */
  readonly read: (value: unknown, path: FieldPath) => unknown;
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const sixDigits = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{6})(Z|[+-]\d\d:\d\d)$/;
const quantityPattern = /^[+-]?(\d+|\d+\.\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
/** Padded, with line breaks, as Go reads it. */
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const zeroTime = '0001-01-01T00:00:00Z';

/** An integer of 64 bits in the form of `parseExactJson`: a number beyond 2^53 is rounded or has an exponent, which Go rejects. */
const int64: Scalar = {
  zero: 0,
  read: (value, path) => {
    const fits = typeof value === 'bigint' ? isInt64(value) : Number.isSafeInteger(value);
    return fits ? value : failType(path, 'an integer of 64 bits', value);
  },
};
const int32Bound = 2 ** 31;
const int32: Scalar = {
  zero: 0,
  read: (value, path) => {
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= -int32Bound && value < int32Bound;
    return fits ? value : failType(path, 'an integer of 32 bits', value);
  },
};
/** Any value of the type of the zero. */
function likeZero(zero: string | boolean, wanted: string): Scalar {
  return { zero, read: (value, path) => (typeof value === typeof zero ? value : failType(path, wanted, value)) };
}

const anyValue: Scalar = { zero: null, read: (value) => value };
const metaPackage = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** Scalars by the type of the field; the other types are messages. */
const scalars: ReadonlyMap<string, Scalar> = new Map([
  ['string', likeZero('', 'a string')],
  ['bool', likeZero(false, 'true or false')],
  ['int32', int32],
  ['int64', int64],
  ['bytes', { zero: null, read: readBytes }],
  [`${metaPackage}.Time`, { zero: null, read: readTime }],
  [`${metaPackage}.MicroTime`, { zero: null, read: readMicroTime }],
  [`${metaPackage}.FieldsV1`, anyValue],
  ...[...textLists].map((name) => [name, anyValue] as const),
  ['k8s.io.apimachinery.pkg.runtime.RawExtension', anyValue],
  ['k8s.io.apimachinery.pkg.api.resource.Quantity', { zero: '0', read: readQuantity }],
  [
    'k8s.io.apimachinery.pkg.util.intstr.IntOrString',
    { zero: 0, read: (value, path) => (typeof value === 'string' ? value : int32.read(value, path)) },
  ],
]);

/** An invalid value of a field. */
export class WireFormError extends Error {}

/**
 * The wire form of an object of that kind, or the object itself for a kind without a message. Throws a
 * {@link WireFormError} for a value that is invalid for its field.
 */
export function toWireForm(apiVersion: string, kind: string, object: MutableJsonMap): WireForm {
  const reader = new WireFormReader();
  return { object: reader.readMessage(messageNameOf(apiVersion, kind) ?? '', object), unknown: reader.unknown };
}

/** Wire form of a part of an object, by the full name of its message; `field` is where it is. */
export function toWireField(message: string, field: string, value: unknown): WireForm {
  const reader = new WireFormReader();
  return { object: reader.readField(message, field, value), unknown: reader.unknown };
}

/** Where the reader is. Only an error or an unknown field needs the text. */
class FieldPath {
  readonly #steps: string[] = [];

  /** `step` is the name of a field, or an index or key in brackets. */
  enter(step: string): void {
    this.#steps.push(step);
  }

  leave(): void {
    this.#steps.pop();
  }

  /** Path of a field, as in `spec.containers[0].foo`. */
  text(field?: string): string {
    const steps = field === undefined ? this.#steps : [...this.#steps, field];
    return steps.reduce((path, step) => (path === '' || step.startsWith('[') ? path + step : `${path}.${step}`), '');
  }
}

/** Reads one object. */
class WireFormReader {
  readonly unknown: string[] = [];
  readonly #path = new FieldPath();

  readField(name: string, field: string, value: unknown): MutableJsonMap {
    this.#path.enter(field);
    const read = this.readMessage(name, value);
    this.#path.leave();
    return read;
  }

  readMessage(name: string, value: unknown): MutableJsonMap {
    if (!isMap(value)) return failType(this.#path, 'an object', value);
    const fields = messageFields(name);
    if (fields === undefined) return value;
    const read: MutableJsonMap = {};
    let known = 0;
    for (const [field, type] of listMessageFields(name)) {
      const given = ownValue(value, field);
      if (given !== undefined) known += 1;
      else if (type.options?.keep !== 'always') continue;
      this.#path.enter(field);
      const result = this.#readField(type, given ?? undefined);
      this.#path.leave();
      if (result !== undefined) setOwn(read, field, result);
    }
    if (Object.keys(value).length > known) this.#reportUnknown(value, fields);
    return read;
  }

  #reportUnknown(value: MutableJsonMap, fields: ReadonlyMap<string, MessageField>): void {
    for (const field of Object.keys(value)) if (!fields.has(field)) this.unknown.push(this.#path.text(field));
  }

  /** Undefined if the field is omitted. */
  #readField(field: MessageField, value: unknown): unknown {
    const keep = field.options?.keep;
    if (field.keyType !== undefined) return this.#readMap(field.type, value) ?? emptyOf(keep);
    if (field.rule === 'repeated') return this.#readList(field.type, value) ?? emptyOf(keep);
    if (keep === 'always') return this.#readKept(field.type, value);
    if (value === undefined) return undefined;
    const read = this.#readOne(field.type, value);
    return isOmitted(read, keep) ? undefined : read;
  }

  #readKept(type: string, value: unknown): unknown {
    if (value !== undefined) return this.#readOne(type, value);
    const scalar = scalars.get(type);
    return scalar === undefined ? this.readMessage(type, {}) : scalar.zero;
  }

  #readOne(type: string, value: unknown): unknown {
    const scalar = scalars.get(type);
    return scalar === undefined ? this.readMessage(type, value) : scalar.read(value, this.#path);
  }

  /** Undefined if it is missing or empty. */
  #readList(type: string, value: unknown): unknown {
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return failType(this.#path, 'a list', value);
    const items = value.map((item, index) => this.#readItem(type, `[${index}]`, item ?? {}));
    return items.length === 0 ? undefined : items;
  }

  /** Undefined if it is missing or empty. */
  #readMap(type: string, value: unknown): unknown {
    if (value === undefined) return undefined;
    if (!isMap(value)) return failType(this.#path, 'an object', value);
    const entries = Object.entries(value).map(
      ([key, item]) => [key, this.#readItem(type, `[${key}]`, item ?? '')] as const,
    );
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }

  #readItem(type: string, step: string, item: unknown): unknown {
    this.#path.enter(step);
    const read = this.#readOne(type, item);
    this.#path.leave();
    return read;
  }
}

/** A list or map without elements: Go writes null where it does not omit it. */
function emptyOf(keep: string | undefined): null | undefined {
  return keep === 'always' ? null : undefined;
}

function readTime(value: unknown, path: FieldPath): string | null {
  if (value === zeroTime) return null;
  if (typeof value === 'string' && isCanonicalTime(value)) return value;
  const ms = typeof value === 'string' && rfc3339.test(value) ? parseTimestamp(value) : undefined;
  return ms === undefined ? failType(path, 'a time as 2006-01-02T15:04:05Z', value) : formatTime(ms);
}

/** Go accepts exactly six digits here: kube-apiserver rejects the three of `Date.toISOString()`. */
function readMicroTime(value: unknown, path: FieldPath): string | null {
  if (value === zeroTime) return null;
  if (typeof value === 'string' && isCanonicalTime(value, true)) return value;
  const micros = typeof value === 'string' ? sixDigits.exec(value)?.[1] : undefined;
  const ms = parseTimestamp(value);
  if (micros === undefined || ms === undefined) return failType(path, 'a time as 2006-01-02T15:04:05.000000Z', value);
  return formatTime(ms).replace('Z', `.${micros}Z`);
}

function readQuantity(value: unknown, path: FieldPath): string {
  const text = isNumber(value) ? String(value) : value;
  if (typeof text === 'string' && quantityPattern.test(text)) return canonicalQuantity(text);
  return failType(path, 'a quantity as 100m or 1Gi', value);
}

/** Bytes as base64 text. Go also reads a list of numbers, of which null is 0. */
function readBytes(value: unknown, path: FieldPath): string {
  if (Array.isArray(value)) return Buffer.from(value.map((item) => readByte(item ?? 0, path))).toString('base64');
  const text = typeof value === 'string' ? value.replaceAll(/[\r\n]/g, '') : undefined;
  if (text === undefined || !base64Pattern.test(text)) return failType(path, 'base64', value);
  return Buffer.from(text, 'base64').toString('base64');
}

function readByte(value: unknown, path: FieldPath): number {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
  return fits ? value : failType(path, 'a byte', value);
}

function failType(path: FieldPath, wanted: string, value: unknown): never {
  throw new WireFormError(`${path.text() || 'object'}: must be ${wanted} (got ${describeValue(value)})`);
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return isMap(value) ? 'an object' : JSON.stringify(isNumber(value) ? Number(value) : value);
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isOmitted(value: unknown, keep: string | undefined): boolean {
  return value === null || (keep !== 'present' && (value === '' || value === 0 || value === false));
}
