/**
 * Converts a JSON object to the form it has after Go decoded and encoded it: unknown fields are removed (and reported),
 * nulls and zero values are omitted where Go omits them, times have the precision of their type, and a value of the
 * wrong type is rejected.
 */
import { formatTime, parseTimestamp } from '../../api/timestamps.ts';
import { isMap, type MutableJsonMap } from '../select-field.ts';
import { type MessageField, messageFields, messageNameOf } from './message-table.ts';

export interface WireForm {
  readonly object: MutableJsonMap;
  /** Paths of unknown fields, as in `spec.containers[0].foo`. */
  readonly unknown: readonly string[];
}

/** A type whose JSON form is a single value. */
interface Scalar {
  readonly zero: unknown;
  /** Throws a {@link WireFormError} for an invalid value. */
  readonly read: (value: unknown, path: string) => unknown;
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const sixDigits = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{6})(Z|[+-]\d\d:\d\d)$/;
const quantityPattern = /^[+-]?(\d+|\d+\.\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const zeroTime = '0001-01-01T00:00:00Z';

const integer: Scalar = {
  zero: 0,
  read: (value, path) => (Number.isInteger(value) ? value : failType(path, 'int64', value)),
};
const anyValue: Scalar = { zero: null, read: (value) => value };
const metaPackage = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** By the type of the field; the other types are messages. */
const scalars: Readonly<Record<string, Scalar>> = {
  string: { zero: '', read: (value, path) => (typeof value === 'string' ? value : failType(path, 'string', value)) },
  bool: { zero: false, read: (value, path) => (typeof value === 'boolean' ? value : failType(path, 'bool', value)) },
  int32: integer,
  int64: integer,
  [`${metaPackage}.Time`]: { zero: null, read: readTime },
  [`${metaPackage}.MicroTime`]: { zero: null, read: readMicroTime },
  [`${metaPackage}.FieldsV1`]: anyValue,
  'k8s.io.api.authentication.v1.ExtraValue': anyValue,
  'k8s.io.api.authorization.v1.ExtraValue': anyValue,
  'k8s.io.apimachinery.pkg.runtime.RawExtension': anyValue,
  'k8s.io.apimachinery.pkg.api.resource.Quantity': { zero: '0', read: readQuantity },
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': {
    zero: 0,
    read: (value, path) =>
      typeof value === 'string' || Number.isInteger(value) ? value : failType(path, 'int or string', value),
  },
};

/** An invalid value of a field. */
export class WireFormError extends Error {}

/**
 * The wire form of an object of that kind, or the object itself for a kind without a message. Throws a
 * {@link WireFormError} for a value that is invalid for its field.
 */
export function toWireForm(apiVersion: string, kind: string, object: MutableJsonMap): WireForm {
  const unknown: string[] = [];
  return { object: readMessage(messageNameOf(apiVersion, kind) ?? '', object, '', unknown), unknown };
}

/** Adds the paths of unknown fields to `unknown`. */
function readMessage(name: string, value: unknown, path: string, unknown: string[]): MutableJsonMap {
  if (!isMap(value)) return failType(path, 'an object', value);
  const fields = messageFields(name);
  if (fields === undefined) return value;
  const read: MutableJsonMap = {};
  for (const [field, type] of fields) {
    const result = readField(type, value[field] ?? undefined, join(path, field), unknown);
    if (result !== undefined) read[field] = result;
  }
  for (const field of Object.keys(value)) if (!fields.has(field)) unknown.push(join(path, field));
  return read;
}

/** Undefined if the field is omitted. */
function readField(field: MessageField, value: unknown, path: string, unknown: string[]): unknown {
  const keep = field.options?.keep;
  const scalar = scalars[field.type];
  const readOne = (one: unknown, at: string): unknown =>
    scalar === undefined ? readMessage(field.type, one, at, unknown) : scalar.read(one, at);
  if (field.keyType !== undefined) return readMap(value, path, readOne);
  if (field.rule === 'repeated') return readList(value, path, readOne);
  if (keep === 'always') return value === undefined && scalar !== undefined ? scalar.zero : readOne(value ?? {}, path);
  if (value === undefined) return undefined;
  const read = readOne(value, path);
  return isOmitted(read, keep) ? undefined : read;
}

/** Undefined if it is missing or empty. */
function readList(value: unknown, path: string, readOne: Scalar['read']): unknown {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return failType(path, 'a list', value);
  const items = value.map((item, index) => readOne(item ?? {}, `${path}[${index}]`));
  return items.length === 0 ? undefined : items;
}

/** Undefined if it is missing or empty. */
function readMap(value: unknown, path: string, readOne: Scalar['read']): unknown {
  if (value === undefined) return undefined;
  if (!isMap(value)) return failType(path, 'an object', value);
  const entries = Object.entries(value).map(([key, item]) => [key, readOne(item ?? '', `${path}[${key}]`)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function readTime(value: unknown, path: string): string | null {
  if (typeof value !== 'string') return failType(path, 'Time', value);
  if (value === zeroTime) return null;
  const ms = rfc3339.test(value) ? parseTimestamp(value) : undefined;
  if (ms === undefined) throw unreadableTime(value, '2006-01-02T15:04:05Z07:00', path);
  return formatTime(ms);
}

/** Go accepts exactly six digits here: kube-apiserver rejects the three of `Date.toISOString()`. */
function readMicroTime(value: unknown, path: string): string | null {
  if (typeof value !== 'string') return failType(path, 'MicroTime', value);
  if (value === zeroTime) return null;
  const micros = sixDigits.exec(value)?.[1];
  const ms = parseTimestamp(value);
  if (micros === undefined || ms === undefined) throw unreadableTime(value, '2006-01-02T15:04:05.000000Z07:00', path);
  return formatTime(ms).replace('Z', `.${micros}Z`);
}

function readQuantity(value: unknown, path: string): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return failType(path, 'Quantity', value);
  if (!quantityPattern.test(text))
    throw new WireFormError(`${path}: quantities must match the regular expression of a quantity`);
  return text;
}

function unreadableTime(value: string, layout: string, path: string): Error {
  return new WireFormError(`parsing time "${value}" as "${layout}": cannot parse it (${path})`);
}

function failType(path: string, wanted: string, value: unknown): never {
  const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  throw new WireFormError(`json: cannot unmarshal ${type} into field ${path} of type ${wanted}`);
}

function isOmitted(value: unknown, keep: string | undefined): boolean {
  return value === null || (keep !== 'present' && (value === '' || value === 0 || value === false));
}

function join(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}
