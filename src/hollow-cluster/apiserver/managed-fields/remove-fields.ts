/** Removes fields and list elements from an object (upstream `typed/remove.go`). */
import { isMap, type JsonMap, setOwn } from '../../../machinery/api/json-map.ts';
import type { MutableJsonMap } from '../../../machinery/api/select-field.ts';
import { FieldSet } from './field-set.ts';
import { elementOf } from './list-elements.ts';
import { fieldElement, fieldNameOf } from './path-element.ts';
import { anyValue, fieldType, formOf, type ListType, type MapType, type ValueType } from './value-type.ts';

/** The object itself is left as it is. A map or list that becomes empty is null. */
export function removeFields(type: ValueType, object: JsonMap, fields: FieldSet): MutableJsonMap {
  const left = remove(type, object, fields);
  return isMap(left) ? { ...left } : {};
}

function remove(type: ValueType, value: unknown, fields: FieldSet): unknown {
  const form = formOf(type, value);
  if (form === 'list' && type.list !== undefined) return removeItems(type.list, value, fields);
  if (form === 'map' && type.map !== undefined) return removeEntries(type.map, value, fields);
  return value;
}

function removeItems(list: ListType, value: unknown, fields: FieldSet): unknown {
  if (!Array.isArray(value) || list.kind === 'atomic') return null;
  const kept: unknown[] = [];
  for (const item of value) {
    const element = elementOf(list, item);
    if (fields.owns(element)) continue;
    const below = fields.below(element);
    kept.push(below === undefined ? item : remove(list.element(), item, below));
  }
  return kept.length === 0 ? null : kept;
}

function removeEntries(map: MapType, value: unknown, fields: FieldSet): unknown {
  if (!isMap(value) || map.atomic) return null;
  const kept: MutableJsonMap = {};
  for (const [name, part] of Object.entries(value)) {
    const element = fieldElement(name);
    if (fields.owns(element)) continue;
    const below = fields.below(element);
    setOwn(kept, name, below === undefined ? part : remove(fieldType(map, name) ?? anyValue, part, below));
  }
  return Object.keys(kept).length === 0 ? null : kept;
}

/**
 * The set with the declared fields on the way to its paths (upstream `EnsureNamedFieldsAreMembers`): structs are owned only
 * through their fields, and are removed with the last one.
 */
export function withDeclaredParents(type: ValueType | undefined, fields: FieldSet): FieldSet {
  const entries = new Map(fields.entries);
  for (const [element, { owned, below }] of fields.entries) {
    if (below === undefined) continue;
    const { inner, isDeclared } = innerType(type ?? {}, fieldNameOf(element));
    entries.set(element, { owned: owned || isDeclared, below: withDeclaredParents(inner, below) });
  }
  return new FieldSet(entries);
}

function innerType(
  { map, list }: ValueType,
  field: string | undefined,
): { readonly inner: ValueType | undefined; readonly isDeclared: boolean } {
  if (field === undefined) return { inner: list?.element(), isDeclared: false };
  const declared = map?.field(field);
  return { inner: declared ?? map?.element?.(), isDeclared: declared !== undefined };
}
