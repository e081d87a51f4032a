/** Which fields differ between two versions of an object (upstream `typed/compare.go`). */
import { isMap, type JsonMap } from '../../api/json-map.ts';
import { sameJson } from '../../api/same-json.ts';
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import { elementOf } from './list-elements.ts';
import { fieldElement, type PathElement } from './path-element.ts';
import { fieldType, type Form, formOf, type ListType, type MapType, type ValueType } from './value-type.ts';

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Both values conform to the type. */
export function compareObjects(type: ValueType, before: JsonMap, after: JsonMap): Comparison {
  const walk = new Comparing();
  walk.compare(type, before, after);
  return walk.result();
}

/** The comparison without these paths and their children. */
export function excludeFields({ added, modified, removed }: Comparison, fields: FieldSet): Comparison {
  return {
    added: added.recursiveDifference(fields),
    modified: modified.recursiveDifference(fields),
    removed: removed.recursiveDifference(fields),
  };
}

class Comparing {
  readonly #path: PathElement[] = [];
  readonly #added = new FieldSetBuilder();
  readonly #modified = new FieldSetBuilder();
  readonly #removed = new FieldSetBuilder();

  result(): Comparison {
    return { added: this.#added.build(), modified: this.#modified.build(), removed: this.#removed.build() };
  }

  /** Undefined is absent; at most one of the two is. */
  compare(type: ValueType, before: unknown, after: unknown): void {
    if (before === after) return;
    const [left, right] = [formOf(type, before), formOf(type, after)];
    if (before !== undefined && after !== undefined && left !== right) this.#compareAs(left, type, before, after);
    const leaf = this.#compareAs(after === undefined ? left : right, type, before, after);
    if (leaf) return;
    if (before === undefined) this.#added.insert(this.#path);
    else if (after === undefined) this.#removed.insert(this.#path);
  }

  /** True if the value was compared as a whole. */
  #compareAs(form: Form, type: ValueType, before: unknown, after: unknown): boolean {
    if (form === 'list' && type.list !== undefined && !isListLeaf(type.list, before, after)) {
      this.#compareLists(type.list, itemsOf(before), itemsOf(after));
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
    if (before === undefined) this.#added.insert(this.#path);
    else if (after === undefined) this.#removed.insert(this.#path);
    else if (!sameJson(before, after)) this.#modified.insert(this.#path);
  }

  #compareMaps(map: MapType, before: JsonMap | undefined, after: JsonMap | undefined): void {
    for (const name in before) this.#compareField(map, name, before, after);
    for (const name in after) if (before?.[name] === undefined) this.#compareField(map, name, before, after);
  }

  #compareField(map: MapType, name: string, before: JsonMap | undefined, after: JsonMap | undefined): void {
    const [left, right] = [fieldOf(map, before, name), fieldOf(map, after, name)];
    if (left === right) return;
    const type = fieldType(map, name);
    if (type !== undefined) this.#below(fieldElement(name), type, left, right);
  }

  #below(element: PathElement, type: ValueType, before: unknown, after: unknown): void {
    this.#path.push(element);
    this.compare(type, before, after);
    this.#path.pop();
  }

  #compareLists(list: ListType, before: readonly unknown[], after: readonly unknown[]): void {
    if (sameJson(before, after)) return;
    const [lefts, rights] = [groupItems(list, before), groupItems(list, after)];
    for (const [element, left] of lefts) this.#compareItems(list, element, left, rights.get(element) ?? []);
    for (const [element, right] of rights) if (!lefts.has(element)) this.#compareItems(list, element, [], right);
  }

  /** Duplicates of an element are compared as one value. */
  #compareItems(list: ListType, element: PathElement, left: readonly unknown[], right: readonly unknown[]): void {
    const type = list.element();
    if (left.length <= 1 && right.length <= 1) {
      this.#below(element, type, left[0], right[0]);
    } else if (left.length > 1 && right.length > 1) {
      if (!sameJson(left, right)) this.#modified.insert([...this.#path, element]);
    } else if (left.length > 1) {
      if (right.length > 0) this.#below(element, type, undefined, right[0]);
      this.#removed.insert([...this.#path, element]);
    } else {
      if (left.length > 0) this.#below(element, type, left[0], undefined);
      this.#added.insert([...this.#path, element]);
    }
  }
}

function groupItems(list: ListType, items: readonly unknown[]): ReadonlyMap<PathElement, readonly unknown[]> {
  const groups = new Map<PathElement, unknown[]>();
  for (const item of items) {
    const element = elementOf(list, item);
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}

/** A field of an object that exists; some are null rather than absent. */
function fieldOf(map: MapType, object: JsonMap | undefined, name: string): unknown {
  const value = object?.[name];
  return value === undefined && object !== undefined && map.nullable.includes(name) ? null : value;
}

/** Empty values are compared as a whole: that keeps empty and absent apart. */
function isListLeaf(list: ListType, before: unknown, after: unknown): boolean {
  return list.kind === 'atomic' || (itemsOf(before).length === 0 && itemsOf(after).length === 0);
}

function isMapLeaf(map: MapType, before: unknown, after: unknown): boolean {
  return map.atomic || (isEmpty(before) && isEmpty(after));
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isEmpty(value: unknown): boolean {
  return !isMap(value) || Object.keys(value).length === 0;
}
