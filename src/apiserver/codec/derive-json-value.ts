/**
 * Messages that are one JSON value rather than an object: what Go gives a marshaller of its own. Seconds and nanos
 * become RFC 3339 text, a quantity its text, and so on.
 */
import { formatTime } from '../../api/timestamps.ts';

/** A decoded message: only the fields that were on the wire are its own. */
export type Decoded = Readonly<Record<string, unknown>>;

/** Turns one message into its JSON value; null stands for a zero time, as in Go. */
export type JsonValueOf = (message: Decoded) => unknown;

/** By full message name. */
export const jsonValues: Readonly<Record<string, JsonValueOf>> = {
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time': (time) => timeText(time, false),
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime': (time) => timeText(time, true),
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1': (fields) => parsedBytes(fields['Raw']),
  'k8s.io.apimachinery.pkg.runtime.RawExtension': (extension) => parsedBytes(extension['raw']),
  'k8s.io.apimachinery.pkg.api.resource.Quantity': (quantity) => textOf(quantity['string']) || '0',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': (either) =>
    numberOf(either['type']) === 1 ? textOf(either['strVal']) : numberOf(either['intVal']),
  'k8s.io.api.authentication.v1.ExtraValue': (value) => value['items'] ?? [],
  'k8s.io.api.authorization.v1.ExtraValue': (value) => value['items'] ?? [],
};

/** A 64-bit number as JSON has it: exact up to 2^53, like everything that JSON.parse reads. */
export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  // What the protobuf package makes of 64 bits.
  if (typeof value !== 'object' || value === null || !('toNumber' in value)) return 0;
  return typeof value.toNumber === 'function' ? Number(value.toNumber()) : 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Go's zero time has no bytes at all; the Unix epoch has its zeros written out. Throws a RangeError beyond all years. */
function timeText(time: Decoded, micro: boolean): string | null {
  if (!Object.hasOwn(time, 'seconds') && !Object.hasOwn(time, 'nanos')) return null;
  const whole = formatTime(numberOf(time['seconds']) * 1_000);
  if (!micro) return whole;
  // Through milliseconds a double would lose the last digit.
  const micros = Math.floor(numberOf(time['nanos']) / 1_000);
  return `${whole.slice(0, -1)}.${String(micros).padStart(6, '0')}Z`;
}

/** Throws a SyntaxError where the bytes are no JSON. */
function parsedBytes(bytes: unknown): unknown {
  if (!(bytes instanceof Uint8Array) || bytes.length === 0) return null;
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}
