/** Identifies the elements of sets and of lists with keys (upstream `typed/helpers.go`, `listItemToPathElement`). */
import { isMap, ownValue } from '../../../machinery/api/json-map.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';
import type { ListType } from './value-type.ts';

/** Why a list cannot be read. */
export class ListElementError extends Error {}

/** Throws a {@link ListElementError} for an element without identity. */
export function elementOf(list: ListType, item: unknown): PathElement {
  return list.keys.length === 0 ? setElement(item) : keyedElement(list, item);
}

function setElement(item: unknown): PathElement {
  if (isMap(item)) throw new ListElementError("associative list without keys has an element that's a map type");
  if (Array.isArray(item)) throw new ListElementError('not supported: associative list with lists as elements');
  if (item === null) {
    throw new ListElementError("associative list without keys has an element that's an explicit null");
  }
  return valueElement(item);
}

function keyedElement(list: ListType, item: unknown): PathElement {
  if (item === null) throw new ListElementError('associative list with keys may not have a null element');
  if (!isMap(item)) throw new ListElementError('associative list with keys may not have non-map elements');
  const keys: (readonly [string, unknown])[] = [];
  for (const key of list.keys) {
    const value = ownValue(item, key) === undefined ? ownValue(list.keyDefaults, key) : ownValue(item, key);
    if (value !== undefined) keys.push([key, value]);
  }
  if (keys.length > 0) return keyElement(keys);
  const names = `[${list.keys.map((key) => JSON.stringify(key)).join(' ')}]`;
  throw new ListElementError(
    `associative list with keys has an element that omits all key fields ${names} (and doesn't have default values for any key fields)`,
  );
}
