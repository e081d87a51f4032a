/** Objects in which one field, a list or a text, has grown to a size in bytes. */
import {
  declaredFields,
  messageFields,
  messageNameOf,
} from '../../src/hollow-cluster/apiserver/codec/message-table.ts';
import { encodeEnvelope } from '../../src/hollow-cluster/apiserver/codec/protobuf-encoder.ts';

/** The largest request that etcd accepts by default. */
export const objectBytesMax = 1.5 * 1024 * 1024;

interface KindName {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A field that has no limit but that of the object. */
interface GrowingField {
  /** From the object, such as `spec.taints`; `spec.containers[].env` is a list of a single container. */
  readonly path: string;
  /** A list or a map of this many items, all different; a text of this many characters. Another for each salt. */
  readonly value: (count: number, salt: string) => unknown;
}

/** Values that the API server requires in items. */
const required: Readonly<Record<string, string>> = { effect: 'NoExecute', operator: 'Exists', status: 'True' };
/** The API server limits names and sets the others. */
const identity = new Set(['name', 'namespace', 'uid', 'resourceVersion'].map((name) => `metadata.${name}`));

/** Their JSON is no object of these fields. */
const scalars = new Set(['Quantity', 'IntOrString', 'Time', 'MicroTime', 'FieldsV1', 'RawExtension']);

type Field = NonNullable<ReturnType<typeof messageFields>> extends ReadonlyMap<string, infer F> ? F : never;

/** Each message once among the items of lists: containers of all kinds have the same fields. */
function fieldsOf(message: string, path: string, seen: Set<string>): readonly GrowingField[] {
  return [...(messageFields(message) ?? [])].flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const own = ownOf(field, at);
    // Items within items are skipped as a whole, like those that are tested.
    const isList = field.rule === 'repeated';
    const isWhole = field.keyType !== undefined || scalars.has(field.type.split('.').at(-1) ?? '');
    if (isWhole || seen.has(field.type) || (isList && path.includes('[]'))) return own;
    seen.add(field.type);
    return [...own, ...fieldsOf(field.type, isList ? `${at}[]` : at, seen)];
  });
}

function ownOf(field: Field, path: string): readonly GrowingField[] {
  if (field.keyType !== undefined) return [{ path, value: entriesOf }];
  if (field.rule === 'repeated') return [{ path, value: (count, salt) => itemsOf(field.type, count, salt) }];
  return field.type === 'string' && !identity.has(path) ? [{ path, value: textOf }] : [];
}

function textOf(length: number, salt: string): string {
  return `${salt}-`.padEnd(length, 'x');
}

function entriesOf(count: number, salt: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, place) => [`${salt}${place}`, '']));
}

function itemsOf(type: string, count: number, salt: string): readonly unknown[] {
  if (messageFields(type) === undefined)
    return Array.from({ length: count }, (_, place) => (type === 'string' ? `${salt}${place}` : place));
  const texts = Object.entries(declaredFields(type)).flatMap(([name, field]) => {
    return field.type === 'string' && field.rule === undefined ? [name] : [];
  });
  const [first, ...others] = texts;
  const rest = Object.fromEntries(others.flatMap((name) => (name in required ? [[name, required[name]]] : [])));
  return Array.from({ length: count }, (_, place) => {
    return first === undefined ? {} : { [first]: `${salt}${place}`, ...rest };
  });
}

function withField<T extends object>(object: T, path: string, value: unknown): T {
  const [place = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...object, [place]: value };
  const name = place.replace('[]', '');
  const inner = (object as Readonly<Record<string, unknown>>)[name] ?? {};
  const inside = (outer: unknown): object => withField(outer as object, rest.join('.'), value);
  return { ...object, [name]: name === place ? inside(inner) : [inside(Array.isArray(inner) ? inner[0] : {})] };
}

/** Every list, map and text of a kind, by the schema of its protobuf. */
export function growingFields({ apiVersion, kind }: KindName): readonly GrowingField[] {
  return fieldsOf(messageNameOf(apiVersion, kind) ?? '', '', new Set());
}

/** `object` with this field so large that it has about as many bytes in protobuf; `bytes` are its protobuf. */
export function grown<T extends object>(
  type: KindName,
  object: T,
  { path, value }: GrowingField,
  { bytesMax = objectBytesMax, salt = 'k' } = {},
): { readonly object: T; readonly bytes: Buffer } {
  const sized = (count: number): { readonly object: T; readonly bytes: Buffer } => {
    const changed = withField(object, path, value(count, salt));
    return { object: changed, bytes: encodeEnvelope(type, changed) };
  };
  const [few, more] = [sized(1_000).bytes.length, sized(2_000).bytes.length];
  const perItem = (more - few) / 1_000;
  // Later items have longer names.
  for (let share = 0.96; ; share -= 0.02) {
    const all = sized(Math.floor(((bytesMax - few) * share) / perItem));
    if (all.bytes.length <= bytesMax) return all;
  }
}
