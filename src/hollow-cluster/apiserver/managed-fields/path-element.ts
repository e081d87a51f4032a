/**
 * One step of a field path, in its FieldsV1 text (upstream `structured-merge-diff/fieldpath`): `f:NAME` is a field,
 * `k:{"name":"c"}` the list element with these keys, `v:VALUE` an element of a set, `i:INDEX` an element by index.
 */
import { escapeAsGo, parseExactJson, stringifyExact } from '../codec/parse-exact-json.ts';
import { isMap } from '../../../machinery/api/json-map.ts';

export type PathElement = string;

/** Order of the kinds of elements. */
const kinds = 'fkvi';
/** Order of the types of values in keys and sets (upstream `value.Compare`). */
const types: readonly string[] = ['number', 'string', 'boolean'];

export function fieldElement(name: string): PathElement {
  return fieldElements.get(name) ?? addFieldElement(name);
}

/** Elements that are remembered: looking one up in a set needs its hash, which a new string does not have. */
const fieldElementsMax = 4_096;
const fieldElements = new Map<string, PathElement>();

function addFieldElement(name: string): PathElement {
  if (fieldElements.size >= fieldElementsMax) fieldElements.clear();
  const element = `f:${name}`;
  fieldElements.set(name, element);
  return element;
}

/** An element of a set. */
export function valueElement(value: unknown): PathElement {
  return `v:${encode(value)}`;
}

/** An element of a list with keys; the names are sorted here. */
export function keyElement(keys: readonly (readonly [string, unknown])[]): PathElement {
  const [first] = keys;
  if (keys.length === 1 && first !== undefined) return `k:{${encode(first[0])}:${encode(first[1])}}`;
  const sorted = [...keys].sort(([a], [b]) => (a < b ? -1 : 1));
  return `k:{${sorted.map(([name, value]) => `${encode(name)}:${encode(value)}`).join(',')}}`;
}

/** The name of a field; undefined for the other kinds. */
export function fieldNameOf(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

/**
 * The element in its canonical text. Undefined for a kind that is unknown, which upstream ignores. Throws a SyntaxError for
 * malformed text.
 */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2 || text[1] !== ':') throw new SyntaxError(`path element ${JSON.stringify(text)} has no kind`);
  const rest = text.slice(2);
  switch (text.charAt(0)) {
    case 'f':
      return text;
    case 'v':
      return valueElement(parseExactJson(rest));
    case 'k':
      return keyElement(Object.entries(parseKeys(rest)));
    case 'i':
      if (!/^-?\d+$/.test(rest)) throw new SyntaxError(`index ${rest} of a path element is not a number`);
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

function parseKeys(text: string): Readonly<Record<string, unknown>> {
  const keys: unknown = JSON.parse(text);
  if (isMap(keys)) return keys;
  throw new SyntaxError('the keys of a path element are not an object');
}

/** Canonical order: fields by name, then keys, then values, then indexes. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const kind = kinds.indexOf(a.charAt(0)) - kinds.indexOf(b.charAt(0));
  if (kind !== 0) return kind;
  if (a.startsWith('f:')) return a < b ? -1 : 1;
  return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)));
}

function compareValues(a: unknown, b: unknown): number {
  if (isMap(a) && isMap(b)) return compareKeys(Object.entries(a), Object.entries(b));
  if (typeof a !== typeof b) return rankOf(a) - rankOf(b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a) < String(b) ? -1 : 1;
}

function rankOf(value: unknown): number {
  const rank = types.indexOf(typeof value);
  return rank === -1 ? types.length : rank;
}

type Keys = readonly (readonly [string, unknown])[];

function compareKeys(a: Keys, b: Keys): number {
  for (const [index, [name, value]] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (name !== other[0]) return name < other[0] ? -1 : 1;
    if (value !== other[1]) return compareValues(value, other[1]);
  }
  return a.length - b.length;
}

/** An element as messages show it: `.spec`, `[name="c"]`, `[="value"]`, `[0]`. */
export function describeElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element.charAt(0)) {
    case 'f':
      return `.${rest}`;
    case 'k':
      return `[${Object.entries(parseKeys(rest))
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`;
    case 'v':
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}

/** The text of a path. */
export function describePath(path: readonly PathElement[]): string {
  return path.map(describeElement).join('');
}

/** Text that is its own JSON. */
const plainText = /^[\w ./:-]*$/;

function encode(value: unknown): string {
  if (typeof value === 'string' && plainText.test(value)) return `"${value}"`;
  return escapeAsGo(stringifyExact(value) ?? 'null');
}
