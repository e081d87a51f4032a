/**
 * Messages whose JSON form is a single value: the types with a custom marshaller in Go. Seconds and nanos become
 * RFC 3339 text, a quantity its string, and so on.
 */
import { exactInteger, parseExactJson } from './parse-exact-json.ts';
import { textOf } from '../../../machinery/api/json-map.ts';
import { formatTime, isRepresentable } from '../../../machinery/api/timestamps.ts';

/** A decoded message: only fields present on the wire are own properties. */
export type Decoded = Readonly<Record<string, unknown>>;

/** Converts one message to its JSON value, by full message name; null stands for a zero time, as in Go. */
export const jsonValues: Readonly<Record<string, (message: Decoded) => unknown>> = {
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time': (time) => timeText(time, false),
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime': (time) => timeText(time, true),
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1': (fields) => parsedBytes(fields['Raw']),
  'k8s.io.apimachinery.pkg.runtime.RawExtension': (extension) => parsedBytes(extension['raw']),
  'k8s.io.apimachinery.pkg.api.resource.Quantity': (quantity) => textOf(quantity['string']) || '0',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': (either) =>
    numberOf(either['type']) === 1 ? textOf(either['strVal']) : numberOf(either['intVal']),
  'k8s.io.apimachinery.pkg.apis.meta.v1.Verbs': (value) => value['items'] ?? [],
  'k8s.io.api.authentication.v1.ExtraValue': (value) => value['items'] ?? [],
  'k8s.io.api.authorization.v1.ExtraValue': (value) => value['items'] ?? [],
  'k8s.io.api.certificates.v1.ExtraValue': (value) => value['items'] ?? [],
};

/** An integer of 64 bits, as the protobuf package decodes it, in the form of {@link parseExactJson}. */
export function integerOf(value: unknown): number | bigint {
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
