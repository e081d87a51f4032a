/**
 * JSON Patch (RFC 6902) as kube-apiserver applies it (upstream `gopkg.in/evanphx/json-patch.v4`): a negative index counts
 * from the end of a list, and a missing field of an object reads as null, so that `replace` adds it. Only own properties
 * of objects exist: no path leads to a prototype.
 */
import { parseExactJson, stringifyExact } from '../codec/parse-exact-json.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import { ownValue, setOwn } from '../../../machinery/api/json-map.ts';
import { isMap, type MutableJsonMap } from '../../../machinery/api/select-field.ts';

/** An operation as it was sent: its fields may be missing or of another type. */
type Operation = Readonly<Record<string, unknown>>;

/** Upstream `JSONPatchMaxCopyBytes`. */
const copiedBytesMax = 3 * 1024 * 1024;

/** An operation that cannot be applied. */
export class JsonPatchProblem extends Error {}

/** Applies the operations one after the other. Consumes `document`; throws a {@link JsonPatchProblem}. */
export function applyJsonPatch(document: unknown, operations: readonly unknown[]): unknown {
  const patching: Patching = { document, copiedBytes: 0 };
  for (const operation of operations) {
    const fields = isMap(operation) ? operation : {};
    const apply = operators.get(fields['op']);
    if (apply === undefined) throw new JsonPatchProblem(`unexpected kind: ${String(fields['op'])}`);
    apply(patching, fields);
  }
  return patching.document;
}

interface Patching {
  document: unknown;
  /** Sum of the sizes of all copied values, in bytes of JSON. */
  copiedBytes: number;
}

const operators: ReadonlyMap<unknown, (patching: Patching, operation: Operation) => void> = new Map([
  ['add', ({ document }: Patching, operation: Operation) => add(document, pathOf(operation), valueOf(operation))],
  ['remove', ({ document }: Patching, operation: Operation) => remove(document, pathOf(operation))],
  ['replace', replace],
  ['move', move],
  ['copy', copy],
  ['test', test],
]);

function pathOf(operation: Operation, field: 'path' | 'from' = 'path'): string {
  const path = operation[field];
  if (typeof path !== 'string') throw new JsonPatchProblem(`operation without a ${field}`);
  return path;
}

function valueOf(operation: Operation): unknown {
  return operation['value'] ?? null;
}

/** The object or list that has the last element of a path, and this element. */
interface Place {
  readonly parent: MutableJsonMap | unknown[];
  readonly key: string;
}

function placeOf(document: unknown, path: string): Place {
  const [, ...keys] = path.split('/').map((part) => part.replace(/~[01]/g, (code) => (code === '~1' ? '/' : '~')));
  const key = keys.pop();
  let parent = document;
  for (const step of keys) parent = Array.isArray(parent) ? parent[indexIn(parent, step)] : fieldOf(parent, step);
  if (key !== undefined && (Array.isArray(parent) || isMap(parent))) return { parent, key };
  throw new JsonPatchProblem(`missing path: ${path}`);
}

/** The field of an object; null where there is none, as a JSON patch of kube-apiserver reads it. */
function fieldOf(parent: unknown, key: string): unknown {
  return isMap(parent) ? (ownValue(parent, key) ?? null) : null;
}

/** The index of an element of a list, or with `length` one more, of the place behind the last one. */
function indexIn(list: readonly unknown[], key: string, length = list.length): number {
  const given = /^[+-]?\d+$/.test(key) ? Number(key) : Number.NaN;
  const index = given < 0 ? given + length : given;
  if (index >= 0 && index < length) return index;
  throw new JsonPatchProblem(`invalid index: ${key}`);
}

function read({ parent, key }: Place): unknown {
  return Array.isArray(parent) ? parent[indexIn(parent, key)] : fieldOf(parent, key);
}

function add(document: unknown, path: string, value: unknown): void {
  const { parent, key } = placeOf(document, path);
  if (!Array.isArray(parent)) setOwn(parent, key, value);
  else if (key === '-') parent.push(value);
  else parent.splice(indexIn(parent, key, parent.length + 1), 0, value);
}

function remove(document: unknown, path: string): void {
  const { parent, key } = placeOf(document, path);
  if (Array.isArray(parent)) parent.splice(indexIn(parent, key), 1);
  else if (Object.hasOwn(parent, key)) delete parent[key];
  else throw new JsonPatchProblem(`missing key: ${path}`);
}

function replace(patching: Patching, operation: Operation): void {
  const path = pathOf(operation);
  const value = valueOf(operation);
  if (path === '') {
    if (typeof value !== 'object' || value === null) throw new JsonPatchProblem('the whole object as a scalar');
    patching.document = value;
    return;
  }
  const { parent, key } = placeOf(patching.document, path);
  if (Array.isArray(parent)) parent[indexIn(parent, key)] = value;
  else setOwn(parent, key, value);
}

function move({ document }: Patching, operation: Operation): void {
  const from = pathOf(operation, 'from');
  const value = read(placeOf(document, from));
  remove(document, from);
  add(document, pathOf(operation), value);
}

function copy(patching: Patching, operation: Operation): void {
  const text = stringifyExact(read(placeOf(patching.document, pathOf(operation, 'from'))));
  patching.copiedBytes += Buffer.byteLength(text);
  if (patching.copiedBytes > copiedBytesMax) {
    throw new JsonPatchProblem(`copies add up to more than ${copiedBytesMax} bytes`);
  }
  add(patching.document, pathOf(operation), parseExactJson(text));
}

function test({ document }: Patching, operation: Operation): void {
  const path = pathOf(operation);
  const found = path === '' ? document : read(placeOf(document, path));
  if (!sameJson(found, valueOf(operation))) throw new JsonPatchProblem(`test failed: ${path}`);
}
