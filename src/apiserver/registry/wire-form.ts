/**
 * Brings a JSON object into the form it has after Go decoded and encoded it: unknown fields are gone (and reported),
 * nulls and zero values vanish where Go would not write them, times have the precision of their type, and a value of the
 * wrong type is refused.
 */
import { formatTime, parseTimestamp } from '../../api/timestamps.ts';
import type { JsonMap } from '../storage/stored-object.ts';
import { type WireField, wireFieldsOf } from './wire-types.ts';

export interface WireForm {
  readonly object: JsonMap;
  /** Paths of fields that the kind does not have, as in `spec.containers[0].foo`. */
  readonly unknown: readonly string[];
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const sixDigits = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{6})(Z|[+-]\d\d:\d\d)$/;
const quantityPattern = /^[+-]?(\d+|\d+\.\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const zeroTime = '0001-01-01T00:00:00Z';

/** A value that its field cannot have. */
export class WireFormError extends Error {}

/** Throws a {@link WireFormError} where a value cannot be of its field's type. Objects of unknown messages pass untouched. */
export function toWireForm(message: string, object: JsonMap): WireForm {
  const unknown: string[] = [];
  return { object: new Reader(unknown).message(message, object, ''), unknown };
}

class Reader {
  readonly #unknown: string[];

  constructor(unknown: string[]) {
    this.#unknown = unknown;
  }

  message(name: string, value: unknown, path: string): JsonMap {
    if (!isMap(value)) throw wrongType(path, 'an object', value);
    const fields = wireFieldsOf(name);
    if (fields === undefined) return value;
    const read: JsonMap = {};
    for (const [field, type] of fields) {
      const result = this.#field(type, value[field] ?? undefined, join(path, field));
      if (result !== undefined) read[field] = result;
    }
    for (const field of Object.keys(value)) if (!fields.has(field)) this.#unknown.push(join(path, field));
    return read;
  }

  /** Undefined where the field is not written. */
  #field(type: WireField, value: unknown, path: string): unknown {
    if (type.shape === 'list') return this.#list(type, value, path);
    if (type.shape === 'map') return this.#map(type, value, path);
    if (value === undefined) return type.keep === 'always' ? this.#zero(type, path) : undefined;
    const read = this.#single(type, value, path);
    if (type.keep === 'always') return read;
    return read === null || (type.keep === 'nonzero' && isZero(read)) ? undefined : read;
  }

  #list(type: WireField, value: unknown, path: string): unknown {
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw wrongType(path, 'a list', value);
    const items = value.map((item, index) => this.#single(type, item ?? {}, `${path}[${index}]`));
    return items.length === 0 ? undefined : items;
  }

  #map(type: WireField, value: unknown, path: string): unknown {
    if (value === undefined) return undefined;
    if (!isMap(value)) throw wrongType(path, 'an object', value);
    const entries = Object.entries(value).map(
      ([key, item]) => [key, this.#single(type, item ?? '', `${path}[${key}]`)] as const,
    );
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }

  #single(type: WireField, value: unknown, path: string): unknown {
    return type.kind === 'message' ? this.message(type.message, value, path) : readers[type.kind](value, path);
  }

  #zero(type: WireField, path: string): unknown {
    return type.kind === 'message' ? this.message(type.message, {}, path) : zeros[type.kind];
  }
}

type ScalarKind = Exclude<WireField['kind'], 'message'>;

const zeros: Readonly<Record<ScalarKind, unknown>> = {
  string: '',
  bool: false,
  integer: 0,
  time: null,
  'micro-time': null,
  quantity: '0',
  'int-or-string': 0,
  any: null,
};

type ReadScalar = (value: unknown, path: string) => unknown;

const readers: Readonly<Record<ScalarKind, ReadScalar>> = {
  string: (value, path) => (typeof value === 'string' ? value : refuse(path, 'string', value)),
  bool: (value, path) => (typeof value === 'boolean' ? value : refuse(path, 'bool', value)),
  integer: (value, path) => (Number.isInteger(value) ? value : refuse(path, 'int64', value)),
  'int-or-string': (value, path) =>
    typeof value === 'string' || Number.isInteger(value) ? value : refuse(path, 'int or string', value),
  time: readTime,
  'micro-time': readMicroTime,
  quantity: readQuantity,
  any: (value) => value,
};

function readTime(value: unknown, path: string): string | null {
  if (typeof value !== 'string') return refuse(path, 'Time', value);
  if (value === zeroTime) return null;
  const ms = rfc3339.test(value) ? parseTimestamp(value) : undefined;
  if (ms === undefined) throw unreadableTime(value, '2006-01-02T15:04:05Z07:00', path);
  return formatTime(ms);
}

/** Go reads exactly six digits here: `Date.toISOString()` with its three is refused by real servers. */
function readMicroTime(value: unknown, path: string): string | null {
  if (typeof value !== 'string') return refuse(path, 'MicroTime', value);
  if (value === zeroTime) return null;
  const micros = sixDigits.exec(value)?.[1];
  const ms = parseTimestamp(value);
  if (micros === undefined || ms === undefined) throw unreadableTime(value, '2006-01-02T15:04:05.000000Z07:00', path);
  return formatTime(ms).replace('Z', `.${micros}Z`);
}

function readQuantity(value: unknown, path: string): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return refuse(path, 'Quantity', value);
  if (!quantityPattern.test(text))
    throw new WireFormError(`${path}: quantities must match the regular expression of a quantity`);
  return text;
}

function unreadableTime(value: string, layout: string, path: string): Error {
  return new WireFormError(`parsing time "${value}" as "${layout}": cannot parse it (${path})`);
}

function refuse(path: string, wanted: string, value: unknown): never {
  throw wrongType(path, wanted, value);
}

function wrongType(path: string, wanted: string, value: unknown): Error {
  return new WireFormError(`json: cannot unmarshal ${nameOfType(value)} into field ${path} of type ${wanted}`);
}

function nameOfType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}
