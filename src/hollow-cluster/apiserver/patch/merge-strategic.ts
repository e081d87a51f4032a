/**
 * Server side of strategic merge patch (upstream `strategicpatch.StrategicMergeMapPatch`): objects merge, lists are
 * replaced unless a rule has a merge key, and `$`-directives control the rest. Directives are never stored.
 *
 * Order of a merged list: elements in the patch keep the order of the patch, elements only in the stored list keep their own,
 * and the two are interleaved by their previous positions, so a new element comes first.
 */
import { mergeListOrder } from './merge-list-order.ts';
import type { MergeRule, MergeRules } from './patch-strategies.ts';
import { listOf, ownValue, setOwn } from '../../../machinery/api/json-map.ts';
import { isMap, type MutableJsonMap } from '../../../machinery/api/select-field.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const orderPrefix = '$setElementOrder/';
const deletePrefix = '$deleteFromPrimitiveList/';

/** An invalid patch. `malformed` ones are client errors (400); upstream responds with 500 to the others. */
export class PatchProblem extends Error {
  readonly malformed: boolean;
  constructor(message: string, malformed = false) {
    super(message);
    this.malformed = malformed;
  }
}

/** Returns a new object; neither argument is changed. Throws {@link PatchProblem}. */
export function mergeStrategic(original: MutableJsonMap, patch: MutableJsonMap, rules: MergeRules): MutableJsonMap {
  if (Object.hasOwn(patch, directive)) return byDirective(original, patch, rules);
  const merged = keepRetained(original, patch);
  for (const [field, value] of Object.entries(patch)) {
    if (!isDirective(field)) mergeField(merged, field, { value, patch, rule: rules(field) });
  }
  for (const field of orphanDirectives(patch)) mergeField(merged, field, { value: [], patch, rule: rules(field) });
  return merged;
}

function byDirective(original: MutableJsonMap, patch: MutableJsonMap, rules: MergeRules): MutableJsonMap {
  const { [directive]: word, ...rest } = patch;
  if (word === 'replace') return cleaned(rest);
  if (word === 'delete') return {};
  if (word === 'merge') return mergeStrategic(original, rest, rules);
  throw new PatchProblem(`unknown patch type found: ${JSON.stringify(word)}`);
}

function keepRetained(original: MutableJsonMap, patch: MutableJsonMap): MutableJsonMap {
  const kept = patch[retainKeys];
  if (kept === undefined) return { ...original };
  if (!Array.isArray(kept)) throw new PatchProblem(`${retainKeys} must be a list`, true);
  const names = new Set(kept);
  const stray = Object.keys(patch).find((field) => !isDirective(field) && !names.has(field));
  if (stray !== undefined) throw new PatchProblem(`${retainKeys} does not name ${stray}, which the patch sets`, true);
  return Object.fromEntries(Object.entries(original).filter(([field]) => names.has(field)));
}

/** Fields with a directive in the patch but no value. */
function orphanDirectives(patch: MutableJsonMap): readonly string[] {
  const named = Object.keys(patch)
    .filter((field) => field.startsWith(orderPrefix) || field.startsWith(deletePrefix))
    .map((field) => field.slice(field.indexOf('/') + 1));
  return [...new Set(named)].filter((field) => !Object.hasOwn(patch, field));
}

interface FieldPatch {
  readonly value: unknown;
  readonly patch: MutableJsonMap;
  readonly rule: MergeRule;
}

function mergeField(merged: MutableJsonMap, field: string, { value, patch, rule }: FieldPatch): void {
  const current = ownValue(merged, field);
  if (value === null) delete merged[field];
  else if (Array.isArray(value)) mergeListField(merged, field, { value, patch, rule });
  else if (isMap(value) && isMap(current) && rule.replaced !== true)
    setOwn(merged, field, mergeStrategic(current, value, rule.fields));
  else if (!isMap(value) || value[directive] !== 'delete') setOwn(merged, field, withoutDirectives(value));
}

function mergeListField(merged: MutableJsonMap, field: string, { value, patch, rule }: FieldPatch): void {
  const order = directiveList(patch, orderPrefix + field);
  const deleted = directiveList(patch, deletePrefix + field) ?? [];
  const list = mergeList(listOf(ownValue(merged, field)), { rule, elements: listOf(value), order, deleted });
  const isGiven = Object.hasOwn(merged, field) || Object.hasOwn(patch, field);
  if (list.length > 0 || isGiven) setOwn(merged, field, list);
}

function directiveList(patch: MutableJsonMap, name: string): readonly unknown[] | undefined {
  const list = ownValue(patch, name);
  if (list === undefined) return undefined;
  if (!Array.isArray(list)) throw new PatchProblem(`${name} must be a list`, true);
  return list;
}

interface ListPatch {
  readonly rule: MergeRule;
  readonly elements: readonly unknown[];
  readonly order: readonly unknown[] | undefined;
  readonly deleted: readonly unknown[];
}

function mergeList(current: readonly unknown[], patch: ListPatch): readonly unknown[] {
  if (patch.rule.scalarSet === true) return mergeScalars(current, patch);
  const { mergeKey } = patch.rule;
  if (mergeKey === undefined) return patch.elements.map(withoutDirectives);
  return mergeMaps(current, patch, mergeKey);
}

function mergeScalars(current: readonly unknown[], { elements, order, deleted }: ListPatch): readonly unknown[] {
  const removed = new Set(deleted);
  const union = [...new Set([...current, ...elements])].filter((scalar) => !removed.has(scalar));
  const wanted = order ?? elements;
  assertOrdered(elements, wanted, String);
  return mergeListOrder({ merged: union, wanted, before: current, keyOf: String });
}

function mergeMaps(current: readonly unknown[], patch: ListPatch, mergeKey: string): readonly unknown[] {
  const keyOf = (element: unknown): string => elementKey(element, mergeKey);
  const { replace, deletedKeys, elements } = sortElements(patch.elements, keyOf);
  if (replace) return elements.map(withoutDirectives);
  const wanted = patch.order ?? elements;
  assertOrdered(elements, wanted, keyOf);
  const merged = current.filter((element) => !deletedKeys.has(keyOf(element)));
  const places = placesOf(merged, keyOf);
  for (const element of elements) {
    const at = places.get(keyOf(element)) ?? merged.length;
    const known = merged[at];
    places.set(keyOf(element), at);
    merged[at] = isMap(known) ? mergeStrategic(known, element, patch.rule.fields) : withoutDirectives(element);
  }
  return mergeListOrder({ merged, wanted, before: current, keyOf });
}

/** The first place of each key. */
function placesOf(list: readonly unknown[], keyOf: (element: unknown) => string): Map<string, number> {
  return new Map(list.map((element, at) => [keyOf(element), at] as const).reverse());
}

interface SortedElements {
  readonly replace: boolean;
  readonly deletedKeys: ReadonlySet<string>;
  readonly elements: readonly MutableJsonMap[];
}

function sortElements(all: readonly unknown[], keyOf: (element: unknown) => string): SortedElements {
  const elements: MutableJsonMap[] = [];
  const deletedKeys = new Set<string>();
  let replace = false;
  for (const element of all) {
    const word = isMap(element) ? element[directive] : undefined;
    if (word === 'replace') replace = true;
    else if (word === 'delete') deletedKeys.add(keyOf(element));
    else if (word !== undefined)
      throw new PatchProblem(`${JSON.stringify(word)} is not a directive for a list's element`);
    else if (isMap(element)) elements.push(element);
    else throw new PatchProblem('a list of objects cannot be merged with something else');
  }
  return { replace, deletedKeys, elements };
}

function assertOrdered(
  elements: readonly unknown[],
  wanted: readonly unknown[],
  keyOf: (element: unknown) => string,
): void {
  const order = wanted.map(keyOf);
  let last = -1;
  for (const element of elements) {
    const at = order.indexOf(keyOf(element), last + 1);
    if (at < 0) throw new PatchProblem('the order in patch list does not match the order that the patch sets');
    last = at;
  }
}

function elementKey(element: unknown, mergeKey: string): string {
  const key = isMap(element) ? ownValue(element, mergeKey) : undefined;
  if (key === undefined || key === null)
    throw new PatchProblem(`an element does not contain its merge key ${mergeKey}`);
  return JSON.stringify(key);
}

/** The value of a new subtree: without nulls and directives. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((item) => !(isMap(item) && Object.hasOwn(item, directive))).map(withoutDirectives);
  return isMap(value) ? cleaned(value) : value;
}

function cleaned(map: MutableJsonMap): MutableJsonMap {
  const fields = Object.entries(map).filter(([field, inner]) => inner !== null && !isDirective(field));
  return Object.fromEntries(fields.map(([field, inner]) => [field, withoutDirectives(inner)]));
}

/** Whether a field is a known directive: annotations and data may have any key with a `$`. */
function isDirective(field: string): boolean {
  return field === directive || field === retainKeys || field.startsWith(orderPrefix) || field.startsWith(deletePrefix);
}
