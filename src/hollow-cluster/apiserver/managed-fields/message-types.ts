/** Value types of the built-in kinds, from the descriptor of their messages. */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import { ownValue } from '../../../machinery/api/json-map.ts';
import { messageFields, type MessageField, messageNameOf } from '../codec/message-table.ts';
import listTypes from './list-types.json' with { type: 'json' };
import { anyValue, type ListType, type MapType, type Scalar, type ValueType } from './value-type.ts';

const core = 'k8s.io.api.core.v1';
const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** Scalars: types whose JSON form is a single value, and those of protobuf. */
const scalars: Readonly<Record<string, Scalar>> = {
  string: 'string',
  bytes: 'string',
  bool: 'boolean',
  int32: 'numeric',
  int64: 'numeric',
  double: 'numeric',
  [`${meta}.Time`]: 'untyped',
  [`${meta}.MicroTime`]: 'untyped',
  'k8s.io.apimachinery.pkg.api.resource.Quantity': 'untyped',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': 'untyped',
};
/**
 * How lists and maps are merged, by message and field (the markers `+listType` and `+mapType` of the Go types): the keys of a
 * list, `set`, or `atomic` for a map. The empty field is the message itself. Lists without an entry are atomic.
 */
const merging: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>> = listTypes;

const zeros: Readonly<Record<string, unknown>> = { string: '', int32: 0, int64: 0, bool: false };

/** Any JSON. */
const untyped: ReadonlySet<string> = new Set([`${meta}.FieldsV1`, 'k8s.io.apimachinery.pkg.runtime.RawExtension']);

/** Defaults of fields that identify list elements and may be left out. */
const keyDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  [`${core}.ContainerPort`]: { protocol: 'TCP' },
  [`${core}.LocalObjectReference`]: { name: '' },
  [`${core}.ServicePort`]: { protocol: 'TCP' },
};

const known = new Map<string, ValueType>();

/** The type of a kind; undefined if the descriptor does not have it. */
export function typeOfKind(apiVersion: string, kind: string): ValueType | undefined {
  const name = messageNameOf(apiVersion, kind);
  return name === undefined ? undefined : typeOfMessage(name);
}

/** The metadata of every object. */
export function metadataType(): ValueType {
  return typeOfMessage(`${meta}.ObjectMeta`);
}

function typeOfMessage(name: string, asOne = false): ValueType {
  const atomic = asOne || ownValue(merging, name)?.[''] === 'atomic';
  const id = atomic ? `${name} atomic` : name;
  return getOrInsert(known, id, () => buildType(name, atomic));
}

function buildType(name: string, atomic: boolean): ValueType {
  const scalar = ownValue(scalars, name);
  if (scalar !== undefined) return { scalar };
  const fields = messageFields(name);
  if (fields === undefined || untyped.has(name)) return anyValue;
  const types = new Map<string, ValueType>();
  // On demand: messages contain themselves.
  const field = (part: string): ValueType | undefined => {
    const about = fields.get(part);
    if (about === undefined) return undefined;
    return getOrInsert(types, part, () => typeOfField(about, ownValue(ownValue(merging, name), part)));
  };
  const nullable = [...fields].filter(([, about]) => isNullable(about)).map(([part]) => part);
  return { map: { atomic, field, element: undefined, nullable } };
}

/** A list without `omitempty` in Go, which is null when it is empty. */
function isNullable({ rule, options }: MessageField): boolean {
  return rule === 'repeated' && options?.keep === 'always';
}

function typeOfField(field: MessageField, merged: string | readonly string[] = ''): ValueType {
  const atomic = merged === 'atomic';
  if (field.keyType !== undefined) return { map: entriesOf(field.type, atomic) };
  if (field.rule === 'repeated') return { list: listOf(field.type, merged) };
  return typeOfMessage(field.type, atomic);
}

function entriesOf(type: string, atomic: boolean): MapType {
  return { atomic, field: () => undefined, element: () => typeOfMessage(type), nullable: [] };
}

function listOf(type: string, merged: string | readonly string[]): ListType {
  const keys = typeof merged === 'string' ? [] : merged;
  const kind = keys.length > 0 ? 'map' : merged === 'set' ? 'set' : 'atomic';
  const defaults = Object.fromEntries(keys.flatMap((key) => defaultOfKey(type, key)));
  return { kind, keys, keyDefaults: defaults, element: () => typeOfMessage(type) };
}

function defaultOfKey(message: string, key: string): readonly (readonly [string, unknown])[] {
  const field = messageFields(message)?.get(key);
  const value =
    ownValue(ownValue(keyDefaults, message), key) ??
    (field?.options?.keep === 'always' ? ownValue(zeros, field.type) : undefined);
  return value === undefined ? [] : [[key, value]];
}
