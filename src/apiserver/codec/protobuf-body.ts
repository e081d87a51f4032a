/**
 * Request bodies in protobuf. Typed Go clients send them by default and do not fall back to JSON, so a server that
 * refuses them breaks `kubectl create namespace`. Here they become the JSON that the same client would have sent, and
 * nothing after this file knows the difference.
 */
import protobuf from 'protobufjs/light.js';
import { ApiError } from '../../api/api-error.ts';
import { type Decoded, jsonValues, numberOf } from './derive-json-value.ts';
import { messageNameOf } from './message-table.ts';
import descriptor from './descriptor.json' with { type: 'json' };

export const protobufContentType = 'application/vnd.kubernetes.protobuf';

/** A decoded body: an object, a review or options, as JSON. */
export interface DecodedBody {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** `k8s` and a zero byte: what every body begins with. */
const magic = [0x6b, 0x38, 0x73, 0x00];

const messages = protobuf.Root.fromJSON(descriptor).resolveAll();
const envelope = messages.lookupType('k8s.io.apimachinery.pkg.runtime.Unknown');

/** Whether a body begins as one in protobuf does, whatever its content type claims. */
export function isProtobufBody(bytes: Uint8Array): boolean {
  return bytes.length >= magic.length && magic.every((byte, index) => bytes[index] === byte);
}

/**
 * Decodes a body of {@link protobufContentType} into the JSON form of the object. `expected` names the kind where the
 * body leaves it out. Throws an ApiError `bad-request` for anything that is no such body, or a kind that is not served.
 */
export function decodeProtobufBody(
  bytes: Uint8Array,
  expected: { readonly apiVersion: string; readonly kind: string } = { apiVersion: '', kind: '' },
): DecodedBody {
  if (!isProtobufBody(bytes)) throw badRequest('the body is not in the protobuf form of Kubernetes');
  const unknown = decodeMessage(envelope, bytes.subarray(magic.length));
  const typeMeta = isMessage(unknown['typeMeta']) ? unknown['typeMeta'] : {};
  const apiVersion = textOf(typeMeta['apiVersion']) || expected.apiVersion;
  const kind = textOf(typeMeta['kind']) || expected.kind;
  const type = findType(apiVersion, kind);
  const raw = unknown['raw'];
  const body = decodeMessage(type, raw instanceof Uint8Array ? raw : new Uint8Array());
  return { kind, apiVersion, ...readFields(type, body) };
}

function findType(apiVersion: string, kind: string): protobuf.Type {
  const name = messageNameOf(apiVersion, kind);
  if (name === undefined)
    throw badRequest(`no kind "${kind}" of version "${apiVersion}" can be read from protobuf here`);
  return messages.lookupType(name);
}

function decodeMessage(type: protobuf.Type, bytes: Uint8Array): Decoded {
  try {
    const message: unknown = type.decode(bytes);
    return isMessage(message) ? message : {};
  } catch (error) {
    throw badRequest(`the body cannot be decoded as ${type.name}`, error);
  }
}

function readFields(type: protobuf.Type, body: Decoded): Readonly<Record<string, unknown>> {
  try {
    return objectOf(type, body);
  } catch (error) {
    throw badRequest(`the body holds a value that ${type.name} cannot have`, error);
  }
}

function objectOf(type: protobuf.Type, message: Decoded): Readonly<Record<string, unknown>> {
  const object: Record<string, unknown> = {};
  for (const field of type.fieldsArray) {
    const value = valueOf(field, message);
    if (value === undefined) continue;
    if (field.options?.['inline'] === true) Object.assign(object, value);
    else object[field.name] = value;
  }
  return object;
}

/** The JSON value of one field, or undefined where JSON leaves it out. */
function valueOf(field: protobuf.Field, message: Decoded): unknown {
  const onWire = Object.hasOwn(message, field.name) ? message[field.name] : undefined;
  if (field instanceof protobuf.MapField) return mapOf(field, onWire);
  if (field.repeated) return listOf(field, onWire);
  const keep: unknown = field.options?.['keep'];
  if (onWire === undefined) return keep === 'always' ? zeroOf(field) : undefined;
  const value = singleOf(field, onWire);
  return keep === 'nonzero' && isZero(value) ? undefined : value;
}

function mapOf(field: protobuf.Field, map: unknown): unknown {
  const entries = isMessage(map) ? Object.entries(map) : [];
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([key, value]) => [key, singleOf(field, value)]));
}

function listOf(field: protobuf.Field, list: unknown): unknown {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return list.map((item) => singleOf(field, item));
}

/** A message, or a scalar. Bytes occur only inside of messages that {@link jsonValues} knows. */
function singleOf(field: protobuf.Field, value: unknown): unknown {
  if (field.resolvedType instanceof protobuf.Type && isMessage(value)) {
    const custom = jsonValues[field.resolvedType.fullName.slice(1)];
    return custom === undefined ? objectOf(field.resolvedType, value) : custom(value);
  }
  return isMessage(value) ? numberOf(value) : value;
}

function isMessage(value: unknown): value is Decoded {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Go writes every scalar that is no pointer, so this is only for other encoders, which leave zeros out. */
function zeroOf(field: protobuf.Field): unknown {
  if (field.resolvedType !== null) return undefined;
  if (field.type === 'string') return '';
  return field.type === 'bool' ? false : 0;
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || value === null;
}

function badRequest(message: string, cause?: unknown): ApiError {
  return new ApiError({ reason: 'bad-request', code: 400, message, ...(cause === undefined ? {} : { cause }) });
}
