import { type Condition, listConditions } from '../../../machinery/api/conditions.ts';
import { isMap, type JsonMap, ownValue, setOwn } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import type { Node } from '../../../machinery/api/node.ts';
import { sameQuantity } from '../../../machinery/api/quantity.ts';

const platformLabels = ['kubernetes.io/os', 'kubernetes.io/arch'] as const;
/** Fields of a node's condition that are compared, all but the heartbeat time. */
const comparedFields = [
  'type',
  'status',
  'reason',
  'message',
  'lastTransitionTime',
  'observedGeneration',
] as const satisfies readonly (keyof Condition)[];
const quantityFields: readonly string[] = ['capacity', 'allocatable'];

/**
 * True if the node changed. Heartbeat times and the order of conditions do not count, nor do two notations of one
 * quantity; of the labels only the two that every status update corrects count (kubelet `nodeStatusHasChanged`,
 * `updateNode`).
 */
export function diffNodeStatus(stored: Node, computed: Node): boolean {
  const [before, after] = [stored.status ?? {}, computed.status ?? {}];
  return (
    platformLabels.some((label) => stored.metadata.labels?.[label] !== computed.metadata.labels?.[label]) ||
    !sameConditions(listConditions(before.conditions), listConditions(after.conditions)) ||
    Object.keys(diffFields(before, after, 'conditions')).length > 0
  );
}

/** In the same order as a rule: a kubelet updates conditions in their places. */
function sameConditions(before: readonly Condition[], after: readonly Condition[]): boolean {
  if (before.length !== after.length) return false;
  if (before.every((condition, index) => sameCondition(condition, after[index]))) return true;
  const byType = (a: Condition, b: Condition): number => (a.type < b.type ? -1 : 1);
  const sorted = after.toSorted(byType);
  return before.toSorted(byType).every((condition, index) => sameCondition(condition, sorted[index]));
}

function sameCondition(before: Condition, after: Condition | undefined): boolean {
  return after !== undefined && comparedFields.every((field) => before[field] === after[field]);
}

/**
 * The strategic-merge patch of `nodes/status` between the two: metadata first, then the changes of the status. It
 * contains no resourceVersion, so it never conflicts; it removes no condition. Empty when nothing differs
 * (component-helpers `PatchNodeStatus`).
 */
export function diffNodeStatusPatch(stored: Node, computed: Node): unknown {
  const metadata = diffFields(described(stored), described(computed));
  const status = {
    ...conditionPatch(listConditions(stored.status?.conditions), listConditions(computed.status?.conditions)),
    ...diffFields(withoutLists(stored), withoutLists(computed)),
    ...addressPatch(stored, computed),
  };
  return {
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(Object.keys(status).length === 0 ? {} : { status }),
  };
}

function described({ metadata: { labels, annotations } }: Node): JsonMap {
  return { labels: labels ?? {}, annotations: annotations ?? {} };
}

function withoutLists(node: Node): JsonMap {
  const { conditions: _, addresses: __, ...others } = node.status ?? {};
  return others;
}

/** The changed fields: maps entry by entry, lists and values as a whole, null for what is removed. */
function diffFields(before: JsonMap, after: JsonMap, except?: string): JsonMap {
  const changed: Record<string, unknown> = {};
  const diff = (key: string): void => {
    const [old, current] = [ownValue(before, key), ownValue(after, key)];
    const value = old === current || key === except ? undefined : diffField(key, old, current);
    if (value !== undefined) setOwn(changed, key, value);
  };
  for (const key of Object.keys(before)) diff(key);
  for (const key of Object.keys(after)) if (!Object.hasOwn(before, key)) diff(key);
  return changed;
}

/** Undefined if nothing changed, null if it is removed. */
function diffField(key: string, old: unknown, wanted: unknown): unknown {
  if (isEmpty(wanted)) return isEmpty(old) ? undefined : null;
  if (!isMap(wanted)) return sameJson(old, wanted) ? undefined : wanted;
  const inner = diffMap(key, isMap(old) ? old : {}, wanted);
  return Object.keys(inner).length > 0 ? inner : undefined;
}

function diffMap(key: string, before: JsonMap, after: JsonMap): JsonMap {
  const inner = isFlat(after) ? diffFlat(before, after) : diffFields(before, after);
  if (!quantityFields.includes(key)) return inner;
  return Object.fromEntries(
    Object.entries(inner).filter(([name, amount]) => !sameQuantity(String(ownValue(before, name)), String(amount))),
  );
}

/** For maps with scalar values: an empty string is a value too. */
function diffFlat(before: JsonMap, after: JsonMap): JsonMap {
  const changed = Object.entries(after).filter(
    ([key, value]) => value !== undefined && ownValue(before, key) !== value,
  );
  const gone = Object.keys(before).filter(
    (key) => ownValue(before, key) !== undefined && ownValue(after, key) === undefined,
  );
  return { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((key) => [key, null])) };
}

function isFlat(map: JsonMap): boolean {
  return Object.values(map).every((value) => typeof value !== 'object' || value === null);
}

/** Absent, null and empty are equal. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** Addresses merge by type though a type may occur twice: a changed list replaces the stored one as a whole. */
function addressPatch(stored: Node, computed: Node): JsonMap {
  const before = stored.status?.addresses ?? [];
  const after = computed.status?.addresses ?? [];
  if (sameJson(before, after)) return {};
  return { addresses: before.length === 0 ? after : [...after, { $patch: 'replace' }] };
}

/** The changed fields of each condition, and the order of all of them, including those of other clients. */
function conditionPatch(before: readonly Condition[], after: readonly Condition[]): JsonMap {
  const changed = after.flatMap((condition) => {
    const stored = before.find(({ type }) => type === condition.type);
    const fields = diffFlat({ ...stored }, { ...condition });
    return Object.keys(fields).length === 0 ? [] : [{ ...fields, type: condition.type }];
  });
  if (changed.length === 0) return {};
  return {
    '$setElementOrder/conditions': after.map(({ type }) => ({ type })),
    conditions: changed,
  };
}
