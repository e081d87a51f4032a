/**
 * Messages whose JSON form is a single value, as Go's custom marshallers write them: RFC 3339 text becomes seconds and
 * nanos, a quantity its string, and so on. The reverse of the decoder in `protobuf-body.ts`.
 */
import { stringifyExact } from './parse-exact-json.ts';
import { parseTimestamp } from '../../../machinery/api/timestamps.ts';
import type { ReverseWriter } from './reverse-writer.ts';

/** A value that is JSON already: an encoder writes its text as it is. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Writes the fields of one message, in descending order; undefined and null stand for Go's zero value. */
type WriteFields = (writer: ReverseWriter, value: unknown) => void;

const microStart = '2026-11-21T06:42:20.'.length;
const microEnd = '2026-11-21T06:42:20.123456'.length;
const nanosPerMicro = 1_000;

/** Encoders of messages whose JSON form is not an object of their fields, by full message name. */
export const jsonMessages: ReadonlyMap<string, WriteFields> = new Map<string, WriteFields>([
  ['k8s.io.apimachinery.pkg.apis.meta.v1.Time', writeTime],
  ['k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime', writeMicroTime],
  ['k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1', writeJson],
  ['k8s.io.apimachinery.pkg.runtime.RawExtension', writeJson],
  ['k8s.io.apimachinery.pkg.api.resource.Quantity', writeQuantity],
  ['k8s.io.apimachinery.pkg.util.intstr.IntOrString', writeIntOrString],
]);

/** Writes a list of texts. A nil one is left out where a field has it, as a nil pointer is. */
export function writeTextList(writer: ReverseWriter, value: unknown): void {
  if (!Array.isArray(value)) return;
  for (let index = value.length - 1; index >= 0; index -= 1) {
    writer.text(String(value[index]));
    writer.varint(0x0a);
  }
}

/** Go's zero time has no bytes. Whole seconds only: upstream writes zero nanos. */
function writeTime(writer: ReverseWriter, value: unknown): void {
  if (typeof value === 'string') writeTimestamp(writer, value, 0);
}

function writeMicroTime(writer: ReverseWriter, value: unknown): void {
  if (typeof value !== 'string') return;
  const micros = value.length > microEnd ? Number(value.slice(microStart, microEnd)) : 0;
  writeTimestamp(writer, value, micros * nanosPerMicro);
}

function writeTimestamp(writer: ReverseWriter, text: string, nanos: number): void {
  const ms = parseTimestamp(text);
  // Not accepted by any write; one that was stored in another way must not hide the other objects of a list.
  if (ms === undefined) return;
  writer.integer(nanos);
  writer.varint(0x10);
  writer.varint(Math.floor(ms / 1_000));
  writer.varint(0x08);
}

function writeJson(writer: ReverseWriter, value: unknown): void {
  if (value === undefined || value === null) return;
  writer.text(value instanceof JsonText ? value.text : stringifyExact(value));
  writer.varint(0x0a);
}

function writeQuantity(writer: ReverseWriter, value: unknown): void {
  writer.text(typeof value === 'string' || typeof value === 'number' ? String(value) : '0');
  writer.varint(0x0a);
}

function writeIntOrString(writer: ReverseWriter, value: unknown): void {
  const isText = typeof value === 'string';
  writer.text(isText ? value : '');
  writer.varint(0x1a);
  writer.integer(value);
  writer.varint(0x10);
  writer.varint(isText ? 1 : 0);
  writer.varint(0x08);
}
