/** All fields of a value, as their owner owns them after an apply (upstream `typed/tofieldset.go`). */
import { isMap, type JsonMap } from '../../../machinery/api/json-map.ts';
import { type FieldSet, FieldSetCursor } from './field-set.ts';
import { elementOf } from './list-elements.ts';
import { fieldElement } from './path-element.ts';
import { anyValue, fieldType, formOf, type ListType, type MapType, type ValueType } from './value-type.ts';

/** The value conforms to the type. */
export function collectFields(type: ValueType, object: JsonMap): FieldSet {
  const walk = new Collecting();
  walk.collect(type, object);
  return walk.set.end();
}

class Collecting {
  readonly set = new FieldSetCursor();

  collect(type: ValueType, value: unknown): void {
    const form = formOf(type, value);
    if (form === 'list' && type.list !== undefined && type.list.kind !== 'atomic') {
      if (Array.isArray(value)) this.#collectItems(type.list, value);
    } else if (form === 'map' && type.map !== undefined && !type.map.atomic) {
      if (isMap(value)) this.#collectEntries(type.map, value);
    } else {
      this.set.mark();
    }
  }

  /** Elements that occur several times are owned as one. */
  #collectItems(list: ListType, items: readonly unknown[]): void {
    const elements = items.map((item) => elementOf(list, item));
    const firstOf = new Map(elements.map((element, index) => [element, index] as const).reverse());
    const lastOf = new Map(elements.map((element, index) => [element, index]));
    for (const [index, element] of elements.entries()) {
      this.set.enter(element);
      const single = firstOf.get(element) === lastOf.get(element);
      if (single) this.collect(list.element(), items[index]);
      this.set.mark();
      this.set.leave();
    }
  }

  #collectEntries(map: MapType, object: JsonMap): void {
    for (const [name, value] of Object.entries(object)) {
      this.set.enter(fieldElement(name));
      this.collect(fieldType(map, name) ?? anyValue, value);
      const empty = value === null || (isMap(value) && Object.keys(value).length === 0);
      if (empty || map.field(name) === undefined) this.set.mark();
      this.set.leave();
    }
  }
}
