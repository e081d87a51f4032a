/** FieldsV1, the JSON form of a field set, with its elements in canonical order (upstream `fieldpath/serialize.go`). */
import { isMap, type JsonMap, ownValue } from '../../../machinery/api/json-map.ts';
import { FieldSet } from './field-set.ts';
import { compareElements, parseElement, type PathElement } from './path-element.ts';

/** The canonical JSON text. */
export function encodeFields(set: FieldSet): string {
  return `{${encodeEntries(set).join(',')}}`;
}

function encodeEntries(set: FieldSet): readonly string[] {
  const elements = [...set.entries.keys()].sort(compareElements);
  return elements.map((element) => `${JSON.stringify(element)}:${encodeEntry(set, element)}`);
}

function encodeEntry(set: FieldSet, element: PathElement): string {
  const below = set.below(element);
  if (below === undefined) return '{}';
  const own = set.owns(element) ? ['".":{}'] : [];
  return `{${[...own, ...encodeEntries(below)].join(',')}}`;
}

/** Whether decoding the JSON gives this set. False for a JSON that is not in canonical form. */
export function encodes(json: unknown, { entries }: FieldSet): boolean {
  if (!isMap(json)) return false;
  let rest = countFields(json) - (Object.hasOwn(json, '.') ? 1 : 0);
  for (const [element, { owned, below }] of entries) {
    if (!encodesEntry(ownValue(json, element), owned, below)) return false;
    rest -= 1;
  }
  return rest === 0;
}

function encodesEntry(json: unknown, owned: boolean, below: FieldSet | undefined): boolean {
  if (!isMap(json)) return false;
  return below === undefined ? countFields(json) === 0 : Object.hasOwn(json, '.') === owned && encodes(json, below);
}

function countFields(json: JsonMap): number {
  let count = 0;
  for (const _ in json) count += 1;
  return count;
}

/** Throws a SyntaxError for a malformed path element. Elements of an unknown kind are dropped. */
export function decodeFields(json: unknown): FieldSet {
  if (!isMap(json)) throw new SyntaxError('fieldsV1 is not an object');
  return decode(json).below ?? FieldSet.empty;
}

/** An object without elements is a path of its own. */
function decode(json: unknown): { readonly owned: boolean; readonly below: FieldSet | undefined } {
  if (!isMap(json)) throw new SyntaxError('a field of fieldsV1 is not an object');
  const entries = new Map<PathElement, ReturnType<typeof decode>>();
  for (const [text, value] of Object.entries(json)) {
    if (text === '.') continue;
    const element = parseElement(text);
    if (element !== undefined) entries.set(element, decode(value));
  }
  if (entries.size === 0) return { owned: true, below: undefined };
  return { owned: Object.hasOwn(json, '.'), below: new FieldSet(entries) };
}
