/**
 * Request bodies in protobuf. Typed Go clients send them by default and do not fall back to JSON, so a server that
 * rejects them breaks `kubectl create namespace`. They are converted here to the JSON that the same client would have
 * sent; all later code handles JSON only.
 */
import protobuf from 'protobufjs/light.js';
import { ownValue, setOwn, textOf } from '../../../machinery/api/json-map.ts';
import { badRequest } from '../api-errors/api-errors.ts';
import { isMap, type MutableJsonMap, textAt } from '../../../machinery/api/select-field.ts';
import { messageNameOf, textLists } from './message-table.ts';
import { toWireForm } from './wire-form.ts';
import { exactInteger, parseExactJson } from './parse-exact-json.ts';
import { formatTime, isRepresentable } from '../../../machinery/api/timestamps.ts';

import descriptor from './descriptor.json' with { type: 'json' };

export const protobufContentType = 'application/vnd.kubernetes.protobuf';

/** A decoded body: an object, a review or options, as JSON. */
interface DecodedBody {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** `k8s` and a zero byte: the prefix of every body. */
const magic = [0x6b, 0x38, 0x73, 0x00];

const messages = protobuf.Root.fromJSON(descriptor).resolveAll();
const envelope = messages.lookupType('k8s.io.apimachinery.pkg.runtime.Unknown');

/** Whether a body starts with the protobuf prefix, whatever its content type. */
export function isProtobufBody(bytes: Uint8Array): boolean {
  return bytes.length >= magic.length && magic.every((byte, index) => bytes[index] === byte);
}

/**
 * Decodes a body of {@link protobufContentType} into the JSON form of the object. `expected` is the kind of a body that
 * omits it. Throws an ApiError `bad-request` for an invalid body or a kind that is not served.
 */
export function decodeProtobufBody(
  bytes: Uint8Array,
  expected: { readonly apiVersion: string; readonly kind: string } = { apiVersion: '', kind: '' },
): DecodedBody {
  if (!isProtobufBody(bytes)) throw badRequest('the body is not Kubernetes protobuf');
  const unknown = decodeMessage(envelope, bytes.subarray(magic.length));
  const apiVersion = textAt(unknown, 'typeMeta', 'apiVersion') || expected.apiVersion;
  const kind = textAt(unknown, 'typeMeta', 'kind') || expected.kind;
  const name = messageNameOf(apiVersion, kind);
  if (name === undefined) throw badRequest(`kind "${kind}" of version "${apiVersion}" is not supported in protobuf`);
  const type = messages.lookupType(name);
  const raw = unknown['raw'];
  const body = decodeMessage(type, raw instanceof Uint8Array ? raw : new Uint8Array());
  try {
    return { kind, apiVersion, ...toWireForm(apiVersion, kind, objectOf(type, body)).object };
  } catch {
    throw badRequest(`the body contains a value that is invalid for ${type.name}`);
  }
}

function decodeMessage(type: protobuf.Type, bytes: Uint8Array): Decoded {
  try {
    const message: unknown = type.decode(bytes);
    return isMap(message) ? message : {};
  } catch {
    throw badRequest(`the body cannot be decoded as ${type.name}`);
  }
}

/** The fields on the wire by JSON name. */
function objectOf(type: protobuf.Type, message: Decoded): MutableJsonMap {
  const object: MutableJsonMap = {};
  for (const field of type.fieldsArray) {
    const given = ownValue(message, field.name);
    const value = given === undefined ? undefined : valueOf(field, given);
    if (field.options?.['inline'] === true) Object.assign(object, value);
    else setOwn(object, field.name, value);
  }
  return object;
}

function valueOf(field: protobuf.Field, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => singleOf(field, item));
  if (!(field instanceof protobuf.MapField) || !isMap(value)) return singleOf(field, value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, singleOf(field, item)]));
}

/** A message, or a scalar; bytes become base64 text. */
function singleOf(field: protobuf.Field, value: unknown): unknown {
  if (field.resolvedType instanceof protobuf.Type && isMap(value)) {
    const custom = ownValue(jsonValues, field.resolvedType.fullName.slice(1));
    return custom === undefined ? objectOf(field.resolvedType, value) : custom(value);
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return isMap(value) ? integerOf(value) : value;
}

/** A decoded message: only fields present on the wire are own properties. */
type Decoded = Readonly<Record<string, unknown>>;

/**
 * Messages whose JSON form is a single value, as the types with a custom marshaller in Go, by full message name: seconds and
 * nanos become RFC 3339 text, a quantity its string. Null stands for a zero time, as in Go.
 */
const jsonValues: Readonly<Record<string, (message: Decoded) => unknown>> = {
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time': (time) => timeText(time, false),
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime': (time) => timeText(time, true),
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1': (fields) => parsedBytes(fields['Raw']),
  'k8s.io.apimachinery.pkg.runtime.RawExtension': (extension) => parsedBytes(extension['raw']),
  'k8s.io.apimachinery.pkg.api.resource.Quantity': (quantity) => textOf(quantity['string']) || '0',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': (either) =>
    numberOf(either['type']) === 1 ? textOf(either['strVal']) : numberOf(either['intVal']),
  ...Object.fromEntries([...textLists].map((name) => [name, (list: Decoded) => list['items'] ?? []] as const)),
};

/** An integer of 64 bits, as the protobuf package decodes it, in the form of {@link parseExactJson}. */
function integerOf(value: unknown): number | bigint {
  return isLong(value) ? exactInteger(BigInt(value.toString())) : numberOf(value);
}

/** A number that is exact up to 2^53. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return isLong(value) ? Number(value) : 0;
}

/** The protobuf package decodes 64-bit numbers as Long objects, whose text is the number. */
function isLong(value: unknown): value is { toString(): string } {
  return typeof value === 'object' && value !== null && 'toNumber' in value;
}

/** Go's zero time has no bytes; the Unix epoch has explicit zeros. Throws a RangeError outside the years of RFC 3339. */
function timeText(time: Decoded, micro: boolean): string | null {
  if (!Object.hasOwn(time, 'seconds') && !Object.hasOwn(time, 'nanos')) return null;
  const ms = numberOf(time['seconds']) * 1_000;
  if (!isRepresentable(ms)) throw new RangeError('a time is beyond the years of RFC 3339');
  const whole = formatTime(ms);
  if (!micro) return whole;
  // Milliseconds as a double would lose the last digit.
  const micros = Math.floor(numberOf(time['nanos']) / 1_000);
  return `${whole.slice(0, -1)}.${String(micros).padStart(6, '0')}Z`;
}

/** Throws a SyntaxError if the bytes are not JSON. */
function parsedBytes(bytes: unknown): unknown {
  if (!(bytes instanceof Uint8Array) || bytes.length === 0) return null;
  return parseExactJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}
