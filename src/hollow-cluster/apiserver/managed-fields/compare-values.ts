/** Which fields differ between two versions of an object (upstream `typed/compare.go`). */
import { isMap, type JsonMap, listOf, ownValue } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import { type FieldSet, FieldSetCursor } from './field-set.ts';
import { elementOf } from './list-elements.ts';
import { fieldElement, type PathElement } from './path-element.ts';
import { fieldType, type Form, formOf, isScalar, type ListType, type MapType, type ValueType } from './value-type.ts';

export interface Comparison {
  /** Added or modified. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** Receives what a comparison finds, and where it is. */
export interface ChangeRecorder {
  /** What follows makes no difference any more. */
  readonly isDone: boolean;
  /** Enters an element whose values differ. */
  enter(element: PathElement): void;
  leave(): void;
  /** The current path was added or modified. */
  markChanged(): void;
  markRemoved(): void;
}

/** Comparison of two objects that conform to the type. */
export function compareObjects(type: ValueType, before: JsonMap, after: JsonMap): Comparison {
  const collected = new ComparisonCollector();
  recordChanges(type, before, after, collected);
  return collected.end();
}

/** Compares two objects that conform to the type, and reports the differences to the recorder. */
export function recordChanges(type: ValueType, before: JsonMap, after: JsonMap, recorder: ChangeRecorder): void {
  new Comparing(recorder).compareParts(type, before, after);
}

class ComparisonCollector implements ChangeRecorder {
  readonly isDone = false;
  readonly #changed = new FieldSetCursor();
  readonly #removed = new FieldSetCursor();

  enter(element: PathElement): void {
    this.#changed.enter(element);
    this.#removed.enter(element);
  }

  leave(): void {
    this.#changed.leave();
    this.#removed.leave();
  }

  markChanged(): void {
    this.#changed.mark();
  }

  markRemoved(): void {
    this.#removed.mark();
  }

  end(): Comparison {
    return { changed: this.#changed.end(), removed: this.#removed.end() };
  }
}

/** Longer lists are compared by the elements of all items. */
const alignedMax = 32;

class Comparing {
  readonly #recorder: ChangeRecorder;

  constructor(recorder: ChangeRecorder) {
    this.#recorder = recorder;
  }

  /** Compares values that are likely to differ. Undefined is absent; at most one of the two is. */
  compareParts(type: ValueType, before: unknown, after: unknown): void {
    if (before === after) return;
    if (type.scalar !== undefined && isScalar(before) && isScalar(after)) {
      this.#recorder.markChanged();
      return;
    }
    const leaf = this.#compareForms(type, before, after);
    if (leaf) return;
    if (before === undefined) this.#recorder.markChanged();
    else if (after === undefined) this.#recorder.markRemoved();
  }

  #compareForms(type: ValueType, before: unknown, after: unknown): boolean {
    const left = formOf(type, before);
    if (after === undefined) return this.#compareAs(left, type, before, after);
    const right = formOf(type, after);
    if (before !== undefined && left !== right) this.#compareAs(left, type, before, after);
    return this.#compareAs(right, type, before, after);
  }

  /** True if the value was compared as a whole. */
  #compareAs(form: Form, type: ValueType, before: unknown, after: unknown): boolean {
    if (form === 'list' && type.list !== undefined && !isListLeaf(type.list, before, after)) {
      this.#compareLists(type.list, listOf(before), listOf(after));
      return false;
    }
    if (form === 'map' && type.map !== undefined && !isMapLeaf(type.map, before, after)) {
      this.#compareMaps(type.map, isMap(before) ? before : undefined, isMap(after) ? after : undefined);
      return false;
    }
    this.#compareLeaf(before, after);
    return true;
  }

  #compareLeaf(before: unknown, after: unknown): void {
    if (after === undefined) this.#recorder.markRemoved();
    else if (!sameJson(before, after)) this.#recorder.markChanged();
  }

  #compareMaps(map: MapType, before: JsonMap | undefined, after: JsonMap | undefined): void {
    for (const name in before) this.#compareField(map, name, before, after);
    for (const name in after) if (ownValue(before, name) === undefined) this.#compareField(map, name, before, after);
  }

  #compareField(map: MapType, name: string, before: JsonMap | undefined, after: JsonMap | undefined): void {
    const left = fieldOf(map, before, name);
    const right = fieldOf(map, after, name);
    if (this.#recorder.isDone || isSame(left, right)) return;
    const type = fieldType(map, name);
    if (type !== undefined) this.#below(fieldElement(name), type, left, right);
  }

  #below(element: PathElement, type: ValueType, before: unknown, after: unknown): void {
    this.#recorder.enter(element);
    this.compareParts(type, before, after);
    this.#recorder.leave();
  }

  #compareLists(list: ListType, before: readonly unknown[], after: readonly unknown[]): void {
    if (sameJson(before, after) || this.#compareAligned(list, before, after)) return;
    const lefts = Map.groupBy(before, (item) => elementOf(list, item));
    const rights = Map.groupBy(after, (item) => elementOf(list, item));
    for (const [element, left] of lefts) this.#compareItems(list, element, left, rights.get(element) ?? []);
    for (const [element, right] of rights) if (!lefts.has(element)) this.#compareItems(list, element, [], right);
  }

  /**
   * Compares the items at the same indexes, without their path elements but those of the items that differ. False, before
   * anything was compared, if that needs the elements of all.
   */
  #compareAligned(list: ListType, before: readonly unknown[], after: readonly unknown[]): boolean {
    const changed = findChanged(list, before, after);
    for (const index of changed ?? []) {
      this.#below(elementOf(list, before[index]), list.element(), before[index], after[index]);
    }
    return changed !== undefined;
  }

  /** Duplicates of an element are compared as one value. */
  #compareItems(list: ListType, element: PathElement, left: readonly unknown[], right: readonly unknown[]): void {
    const type = list.element();
    if (left.length <= 1 && right.length <= 1) {
      if (!isSame(left[0], right[0])) this.#below(element, type, left[0], right[0]);
      return;
    }
    this.#recorder.enter(element);
    if (left.length > 1 && right.length > 1) {
      if (!sameJson(left, right)) this.#recorder.markChanged();
    } else if (left.length > 1) {
      if (right.length > 0) this.compareParts(type, undefined, right[0]);
      this.#recorder.markRemoved();
    } else {
      if (left.length > 0) this.compareParts(type, left[0], undefined);
      this.#recorder.markChanged();
    }
    this.#recorder.leave();
  }
}

/** Most parts of an object do not change, and comparing them without their type is cheap. Absent and null differ. */
function isSame(before: unknown, after: unknown): boolean {
  if (before === undefined || after === undefined) return before === after;
  return sameJson(before, after);
}

/** Indexes of items that differ; undefined unless each of them has the same keys in both lists, and no other item has them. */
function findChanged(
  list: ListType,
  before: readonly unknown[],
  after: readonly unknown[],
): readonly number[] | undefined {
  if (list.kind !== 'map' || before.length !== after.length || before.length > alignedMax) return undefined;
  const changed: number[] = [];
  for (const [index, left] of before.entries()) {
    const right = after[index];
    if (!hasAllKeys(list, left) || !hasAllKeys(list, right) || !sameKeys(list, left, right)) return undefined;
    if (isRepeated(list, before, index)) return undefined;
    if (!sameJson(left, right)) changed.push(index);
  }
  return changed;
}

/** Whether an earlier item has the same keys. */
function isRepeated(list: ListType, items: readonly unknown[], index: number): boolean {
  for (let at = 0; at < index; at += 1) if (sameKeys(list, items[at], items[index])) return true;
  return false;
}

/** Whether an item has all keys, and needs no defaults. */
function hasAllKeys({ keys }: ListType, item: unknown): boolean {
  return isMap(item) && keys.every((key) => isScalar(ownValue(item, key)));
}

function sameKeys({ keys }: ListType, left: unknown, right: unknown): boolean {
  if (!isMap(left) || !isMap(right)) return false;
  for (const key of keys) if (ownValue(left, key) !== ownValue(right, key)) return false;
  return true;
}

/** A field of an object that exists; some are null rather than absent. */
function fieldOf(map: MapType, object: JsonMap | undefined, name: string): unknown {
  const value = ownValue(object, name);
  return value === undefined && object !== undefined && map.nullable.includes(name) ? null : value;
}

/** Empty values are compared as a whole: that keeps empty and absent apart. */
function isListLeaf(list: ListType, before: unknown, after: unknown): boolean {
  return list.kind === 'atomic' || (listOf(before).length === 0 && listOf(after).length === 0);
}

function isMapLeaf(map: MapType, before: unknown, after: unknown): boolean {
  return map.atomic || (isEmpty(before) && isEmpty(after));
}

function isEmpty(value: unknown): boolean {
  if (!isMap(value)) return true;
  for (const _ in value) return false;
  return true;
}
