/**
 * Merges an applied configuration into an object (upstream `typed/merge.go`): nothing is removed, the configuration wins
 * where both have a value, and the elements of a list follow the order of the configuration.
 */
import { isMap, type JsonMap, listOf, ownValue, setOwn } from '../../../machinery/api/json-map.ts';
import type { MutableJsonMap } from '../../../machinery/api/select-field.ts';
import { elementOf } from './list-elements.ts';
import type { PathElement } from './path-element.ts';
import { anyValue, fieldType, formOf, type ListType, type MapType, type ValueType } from './value-type.ts';

/** Merge of two objects that conform to the type. Both are left as they are, and the result shares parts with them. */
export function mergeObjects(type: ValueType, object: JsonMap, applied: JsonMap): MutableJsonMap {
  const merged = merge(type, object, applied);
  return isMap(merged) ? { ...merged } : {};
}

/** Undefined is absent. */
function merge(type: ValueType, object: unknown, applied: unknown): unknown {
  const form = applied === undefined ? formOf(type, object) : formOf(type, applied);
  if (form === 'list' && type.list !== undefined) return mergeLists(type.list, object, applied);
  if (form === 'map' && type.map !== undefined) return mergeMaps(type.map, object, applied);
  return applied === undefined ? object : applied;
}

function mergeMaps(map: MapType, object: unknown, applied: unknown): unknown {
  const [left, right] = [isMap(object) ? object : {}, isMap(applied) ? applied : {}];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  if (map.atomic || names.size === 0) return applied === undefined ? object : applied;
  const merged: MutableJsonMap = {};
  for (const name of names) {
    const value = merge(fieldType(map, name) ?? anyValue, ownValue(left, name), ownValue(right, name));
    if (value !== undefined) setOwn(merged, name, value);
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}

function mergeLists(list: ListType, object: unknown, applied: unknown): unknown {
  const [left, right] = [listOf(object), listOf(applied)];
  if (list.kind === 'atomic' || left.length + right.length === 0) return applied === undefined ? object : applied;
  return new ListMerge(list, left, right).run();
}

/** A merge of two lists with identified elements. */
class ListMerge {
  readonly #list: ListType;
  readonly #left: readonly unknown[];
  readonly #right: readonly unknown[];
  readonly #leftElements: readonly PathElement[];
  readonly #rightElements: readonly PathElement[];
  readonly #leftValues: ReadonlyMap<PathElement, unknown>;
  readonly #rightIndexes: ReadonlyMap<PathElement, number>;
  /** The elements of both lists that are not merged yet, in the order of the configuration. */
  readonly #shared: PathElement[];
  readonly #merged: unknown[] = [];
  readonly #done = new Set<PathElement>();
  #nextLeft = 0;
  #nextRight = 0;

  constructor(list: ListType, left: readonly unknown[], right: readonly unknown[]) {
    this.#list = list;
    this.#left = left;
    this.#right = right;
    this.#leftElements = left.map((item) => elementOf(list, item));
    this.#rightElements = right.map((item) => elementOf(list, item));
    this.#leftValues = valuesOf(this.#leftElements, left);
    this.#rightIndexes = new Map(this.#rightElements.map((element, index) => [element, index] as const));
    this.#shared = this.#rightElements.filter((element) => this.#leftValues.has(element));
  }

  run(): readonly unknown[] | undefined {
    while (this.#nextLeft < this.#left.length || this.#nextRight < this.#right.length) this.#step();
    return this.#merged.length === 0 ? undefined : this.#merged;
  }

  #step(): void {
    const left = this.#leftElements[this.#nextLeft];
    const right = this.#rightElements[this.#nextRight];
    if (left !== undefined && left === right) {
      this.#nextLeft += 1;
      this.#takeRight(right, true);
      return;
    }
    if (left !== undefined && this.#skipsOrTakesLeft(left, right)) return;
    if (right !== undefined) this.#takeRight(right, this.#shared[0] === right);
  }

  /** True if the element of the object was handled, and the next round begins. */
  #skipsOrTakesLeft(left: PathElement, right: PathElement | undefined): boolean {
    const inBoth = this.#rightIndexes.has(left);
    const [next] = this.#shared;
    if (right !== undefined && inBoth && next !== undefined && next !== left) {
      // It comes later in the configuration.
      this.#nextLeft += 1;
      return true;
    }
    if (!inBoth) {
      this.#push(this.#left[this.#nextLeft], undefined);
      this.#nextLeft += 1;
      return true;
    }
    if (this.#done.has(left)) this.#nextLeft += 1;
    return false;
  }

  #takeRight(element: PathElement, wasNext: boolean): void {
    this.#done.add(element);
    this.#push(this.#leftValues.get(element), this.#right[this.#rightIndexes.get(element) ?? this.#nextRight]);
    this.#nextRight += 1;
    if (wasNext) this.#shared.shift();
  }

  #push(left: unknown, right: unknown): void {
    const value = merge(this.#list.element(), left, right);
    if (value !== undefined) this.#merged.push(value);
  }
}

/** Elements that occur several times are not merged: the configuration replaces them. */
function valuesOf(elements: readonly PathElement[], items: readonly unknown[]): ReadonlyMap<PathElement, unknown> {
  const values = new Map<PathElement, unknown>();
  for (const [index, element] of elements.entries()) values.set(element, values.has(element) ? null : items[index]);
  return values;
}
