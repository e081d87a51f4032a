/** Objects in which one repeated field has grown to the size that the API server stores. */
import {
  declaredFields,
  messageFields,
  messageNameOf,
} from '../../src/hollow-cluster/apiserver/codec/message-table.ts';
import { encodeEnvelope } from '../../src/hollow-cluster/apiserver/codec/protobuf-encoder.ts';

/** The largest request that etcd accepts by default. */
export const objectBytesMax = 1.5 * 1024 * 1024;

interface RepeatedField {
  /** From the object, such as `spec.taints`. */
  readonly path: string;
  /** Items of it, all different. A map: entries. */
  readonly items: (count: number) => unknown;
}

/** Values that the API server requires in items. */
const required: Readonly<Record<string, string>> = { effect: 'NoExecute', operator: 'Exists', status: 'True' };

/** Each message once among the items of lists: containers of all kinds have the same fields. */
function fieldsOf(message: string, path: string, seen: Set<string>): readonly RepeatedField[] {
  return [...(messageFields(message) ?? [])].flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`;
    if (field.keyType !== undefined) return [{ path: at, items: entriesOf }];
    const isList = field.rule === 'repeated';
    const own = isList ? [{ path: at, items: (count: number) => itemsOf(field.type, count) }] : [];
    // Items within items are skipped as a whole, like those that are tested.
    if (seen.has(field.type) || (isList && path.includes('[]'))) return own;
    seen.add(field.type);
    return [...own, ...fieldsOf(field.type, isList ? `${at}[]` : at, seen)];
  });
}

function entriesOf(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, place) => [`k${place}`, '']));
}

function itemsOf(type: string, count: number): readonly unknown[] {
  if (messageFields(type) === undefined)
    return Array.from({ length: count }, (_, place) => (type === 'string' ? `k${place}` : place));
  const texts = Object.entries(declaredFields(type)).flatMap(([name, field]) => {
    return field.type === 'string' && field.rule === undefined ? [name] : [];
  });
  const [first, ...others] = texts;
  const rest = Object.fromEntries(others.flatMap((name) => (name in required ? [[name, required[name]]] : [])));
  return Array.from({ length: count }, (_, place) => {
    return first === undefined ? {} : { [first]: `k${place}`, ...rest };
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

/** The repeated fields of a kind, by the schema; `spec.containers[].env` is one of a single item. */
export function repeatedFields(apiVersion: string, kind: string): readonly string[] {
  return repeated(apiVersion, kind).map(({ path }) => path);
}

function repeated(apiVersion: string, kind: string): readonly RepeatedField[] {
  return fieldsOf(messageNameOf(apiVersion, kind) ?? '', '', new Set());
}

/** In protobuf: `object` with as many items in this field as the API server stores. */
export function grown(
  type: { readonly apiVersion: string; readonly kind: string },
  object: object,
  path: string,
): Buffer {
  const field = repeated(type.apiVersion, type.kind).find((candidate) => candidate.path === path);
  const sized = (count: number): Buffer => encodeEnvelope(type, withField(object, path, field?.items(count)));
  let [count, bytes] = [500, sized(500)];
  while (bytes.length < objectBytesMax * 0.9 || bytes.length > objectBytesMax) {
    count = Math.floor((count * objectBytesMax * 0.95) / bytes.length);
    bytes = sized(count);
  }
  return bytes;
}
