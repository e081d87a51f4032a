/** What the RuntimeClass of a new pod adds to it (upstream admission plugin `RuntimeClass`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { sameQuantity } from '../../../machinery/api/quantity.ts';
import { sameJson } from '../../../machinery/api/same-json.ts';
import { forbidden } from '../api-errors/api-errors.ts';
import type { WriteContext } from '../registry/strategy.ts';
import { mapAt, mapsAt, type MutableJsonMap, textAt, valueAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';

const classes = 'runtimeclasses.node.k8s.io';

/**
 * Sets overhead, node selector and tolerations of a new pod. Throws a 403 ApiError for an unknown class, an overhead that is not
 * that of the class, and a node selector that contradicts it.
 */
export function admitRuntimeClass(draft: Draft, { objects }: WriteContext): void {
  const spec = (draft.spec ??= {});
  const name = spec['runtimeClassName'];
  const runtimeClass = typeof name === 'string' ? objects.get(classes, name)?.content : undefined;
  if (typeof name === 'string' && runtimeClass === undefined)
    throw refused(draft, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  admitOverhead(draft, spec, valueAt(runtimeClass, 'overhead', 'podFixed'));
  if (runtimeClass?.['scheduling'] === undefined) return;
  admitNodeSelector(draft, spec, mapAt(runtimeClass, 'scheduling', 'nodeSelector'));
  const tolerations = mergeTolerations([
    ...mapsAt(spec, 'tolerations'),
    ...mapsAt(runtimeClass, 'scheduling', 'tolerations'),
  ]);
  if (tolerations.length > 0) spec['tolerations'] = structuredClone(tolerations);
}

function admitOverhead(draft: Draft, spec: MutableJsonMap, overhead: unknown): void {
  const own = spec['overhead'];
  if (overhead === undefined) {
    if (own === undefined) return;
    throw refused(draft, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  }
  if (Object.keys(mapAt(own)).length > 0 && !sameQuantities(mapAt(own), mapAt(overhead)))
    throw refused(draft, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  spec['overhead'] = structuredClone(overhead);
}

function sameQuantities(one: MutableJsonMap, other: MutableJsonMap): boolean {
  const names = Object.keys(one);
  const sameNames = names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name));
  return sameNames && names.every((name) => sameQuantity(String(ownValue(one, name)), String(ownValue(other, name))));
}

function admitNodeSelector(draft: Draft, spec: MutableJsonMap, selector: MutableJsonMap): void {
  const own = mapAt(spec, 'nodeSelector');
  const conflict = Object.keys(selector).find((key) => Object.hasOwn(own, key) && own[key] !== ownValue(selector, key));
  if (conflict !== undefined) {
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${conflict}] = ${String(ownValue(selector, conflict))}; pod.spec.nodeSelector[${conflict}] = ${String(ownValue(own, conflict))}`;
    throw refused(draft, why);
  }
  if (Object.keys(selector).length > 0) spec['nodeSelector'] = { ...own, ...selector };
}

/** Without those that another one covers; of equal ones the first stays. */
function mergeTolerations(all: readonly MutableJsonMap[]): readonly MutableJsonMap[] {
  const merged: MutableJsonMap[] = [];
  for (const [index, toleration] of all.entries()) {
    const later = all.slice(index + 1).filter((other) => !sameJson(other, toleration));
    if (![...merged, ...later].some((other) => covers(other, toleration))) merged.push(toleration);
  }
  return merged;
}

/** Whether the first one tolerates all that the second one does. */
function covers(wide: MutableJsonMap, narrow: MutableJsonMap): boolean {
  if (sameJson(wide, narrow)) return true;
  const operator = textAt(wide, 'operator');
  const allKeys = textAt(wide, 'key') === '' && operator === 'Exists';
  if (textAt(narrow, 'key') !== textAt(wide, 'key') && !allKeys) return false;
  if (!['', textAt(narrow, 'effect')].includes(textAt(wide, 'effect')) || endsEarlier(wide, narrow)) return false;
  if (operator === 'Exists') return true;
  const sameValue = textAt(narrow, 'value') === textAt(wide, 'value');
  return ['', 'Equal'].includes(operator) && textAt(narrow, 'operator') === 'Equal' && sameValue;
}

function endsEarlier(wide: MutableJsonMap, narrow: MutableJsonMap): boolean {
  const seconds = wide['tolerationSeconds'];
  if (textAt(wide, 'effect') !== 'NoExecute' || typeof seconds !== 'number') return false;
  const own = narrow['tolerationSeconds'];
  return typeof own !== 'number' || own > seconds;
}

function refused({ metadata }: Draft, why: string): Error {
  return forbidden({ group: '', name: 'pods' }, metadata.name ?? '', why);
}
