/** How the messages of the descriptor are written, field by field. */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { isMap } from '../../../machinery/api/select-field.ts';
import { jsonMessages, writeTextList } from './encode-json-value.ts';
import { declaredFields, type MessageField, textLists } from './message-table.ts';
import type { ReverseWriter } from './reverse-writer.ts';

/** Writes the value of a field without its tag; undefined and null stand for the zero value. */
type WriteValue = (writer: ReverseWriter, value: unknown) => void;

/** Writes one field with its tags. */
type WriteField = (writer: ReverseWriter, value: unknown) => void;

interface FieldPlan {
  /** Name in JSON; undefined if the fields are those of the enclosing message. */
  readonly name: string | undefined;
  /** Whether a field without a value is left out: a pointer, a slice or a map in Go. */
  readonly optional: boolean;
  readonly write: WriteField;
}

interface ValueType {
  readonly wire: 0 | 2;
  readonly write: WriteValue;
  /** A slice in Go, whose zero value is left out. */
  readonly isSlice?: boolean;
}

/** Fields by descending number. */
export type MessagePlan = readonly FieldPlan[];

const keyTag = 0x0a;
const valueTagId = 2;
const noFields: Readonly<Record<string, unknown>> = {};
const loneOrPairedSurrogate = /[\ud800-\udfff]/;

const plans = new Map<string, FieldPlan[]>();

const scalars: ReadonlyMap<string, ValueType> = new Map<string, ValueType>([
  ['string', { wire: 2, write: (writer, value) => writer.text(typeof value === 'string' ? value : '') }],
  ['bool', { wire: 0, write: (writer, value) => writer.varint(value === true ? 1 : 0) }],
  ['int32', { wire: 0, write: (writer, value) => writer.integer(value) }],
  ['int64', { wire: 0, write: (writer, value) => writer.integer(value) }],
  ['bytes', { wire: 2, isSlice: true, write: (writer, value) => writer.block(bytesOf(value)) }],
]);

/** The plan of a message by its full name; throws a RangeError for an unknown one. */
export function messagePlanOf(name: string): MessagePlan {
  const known = plans.get(name);
  if (known !== undefined) return known;
  const plan: FieldPlan[] = [];
  // Messages may contain themselves.
  plans.set(name, plan);
  const fields = Object.entries(declaredFields(name));
  plan.push(...fields.sort(([, a], [, b]) => b.id - a.id).map(([field, type]) => planField(field, type)));
  return plan;
}

/** Writes the fields of a message, without tag and length; anything but a map is written as the empty message. */
export function writeMessage(writer: ReverseWriter, plan: MessagePlan, value: unknown): void {
  const object = isMap(value) ? value : noFields;
  for (const { name, optional, write } of plan) {
    const field = name === undefined ? object : ownValue(object, name);
    if (optional && (field === undefined || field === null)) continue;
    write(writer, field);
  }
}

function planField(name: string, field: MessageField): FieldPlan {
  const type = typeOf(field.type);
  const tag = (field.id << 3) | type.wire;
  if (field.keyType !== undefined) return { name, optional: true, write: mapWriter(tag, type) };
  if (field.rule === 'repeated') return { name, optional: true, write: listWriter(tag, type) };
  const isInline = field.options?.inline === true;
  const optional = !isInline && (field.options?.keep === 'present' || type.isSlice === true);
  return { name: isInline ? undefined : name, optional, write: singleWriter(tag, type) };
}

function typeOf(name: string): ValueType {
  const scalar = scalars.get(name);
  if (scalar !== undefined) return scalar;
  if (textLists.has(name)) return { wire: 2, isSlice: true, write: delimited(writeTextList) };
  const single = jsonMessages.get(name);
  if (single !== undefined) return { wire: 2, write: delimited(single) };
  const plan = messagePlanOf(name);
  return { wire: 2, write: delimited((writer, value) => writeMessage(writer, plan, value)) };
}

function delimited(write: WriteValue): WriteValue {
  return (writer, value) => {
    const end = writer.length;
    write(writer, value);
    writer.varint(writer.length - end);
  };
}

function singleWriter(tag: number, { write }: ValueType): WriteField {
  return (writer, value) => {
    write(writer, value);
    writer.varint(tag);
  };
}

function listWriter(tag: number, { write }: ValueType): WriteField {
  return (writer, value) => {
    if (!Array.isArray(value)) return;
    for (let index = value.length - 1; index >= 0; index -= 1) {
      write(writer, value[index]);
      writer.varint(tag);
    }
  };
}

function mapWriter(tag: number, type: ValueType): WriteField {
  const valueTag = (valueTagId << 3) | type.wire;
  const isBytes = type === scalars.get('bytes');
  return (writer, value) => {
    if (!isMap(value)) return;
    const keys = sortKeys(Object.keys(value));
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const key = keys[index] ?? '';
      const end = writer.length;
      const item = ownValue(value, key);
      if (!isBytes || typeof item === 'string') {
        type.write(writer, item);
        writer.varint(valueTag);
      }
      writer.text(key);
      writer.varint(keyTag);
      writer.varint(writer.length - end);
      writer.varint(tag);
    }
  };
}

/** Keys in the order of their bytes, which differs from that of their UTF-16 units only beyond the basic plane. */
function sortKeys(keys: string[]): readonly string[] {
  if (!keys.some((key) => loneOrPairedSurrogate.test(key))) return keys.sort();
  return keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function bytesOf(value: unknown): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0);
}
