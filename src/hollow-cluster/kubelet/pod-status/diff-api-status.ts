import { type Condition, findCondition, listConditions } from '../../../machinery/api/conditions.ts';
import { isMap, type JsonMap, mapsOf, ownValue } from '../../../machinery/api/json-map.ts';
import { formatTime } from '../../../machinery/api/timestamps.ts';
import { isEndPhase } from '../pod-config/classify-pod.ts';
import type { PodStatus } from './build-api-status.ts';
import { ownConditionTypes } from './build-own-conditions.ts';

/** Fields that are removed on the API server when the kubelet's status does not have them. */
const clearable = [
  'reason',
  'message',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'containerStatuses',
  'initContainerStatuses',
] as const satisfies readonly (keyof PodStatus)[];

/** Lists whose items a strategic merge identifies by this field; other lists are replaced as a whole. */
const mergeKeys: Readonly<Record<string, string>> = { conditions: 'type', podIPs: 'ip', hostIPs: 'ip' };

/**
 * True if the two statuses agree in the fields that the kubelet owns. Times of conditions do not count, nor do
 * conditions of other clients (kubelet `isPodStatusByKubeletEqual`).
 */
export function agreesWith(stored: PodStatus | undefined, wanted: PodStatus): boolean {
  const conditions = listConditions(stored?.conditions);
  return (
    listConditions(wanted.conditions).every(
      (condition) => !isOwnedByKubelet(condition) || sameConditionText(conditions, condition),
    ) && ownFields(wanted).every((field) => field === 'conditions' || semanticallyEqual(stored?.[field], wanted[field]))
  );
}

/**
 * The `status` of a strategic-merge patch from the stored status to `wanted`; undefined when nothing differs. A
 * different order of conditions alone is not written.
 */
export function diffStatusPatch(stored: PodStatus | undefined, wanted: PodStatus): JsonMap | undefined {
  const patch: Record<string, unknown> = {};
  for (const field of ownFields(wanted)) {
    const [before, after]: readonly [unknown, unknown] = [stored?.[field], wanted[field]];
    if (isFirstSet(field, before, after)) patch[field] = after;
    if (semanticallyEqual(before, after)) continue;
    const mergeKey = mergeKeys[field];
    if (isEmpty(after)) patch[field] = null;
    else if (mergeKey === undefined || isEmpty(before)) patch[field] = after;
    else Object.assign(patch, patchList(field, mapsOf(before), mapsOf(after), mergeKey));
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

type Field = keyof PodStatus;

/** The fields that a kubelet sets or removes in a pod's status. */
const fields = [
  'phase',
  ...clearable,
  'conditions',
  'startTime',
  'qosClass',
  'observedGeneration',
  'resources',
  'allocatedResources',
] as const satisfies readonly Field[];

function ownFields(status: PodStatus): readonly Field[] {
  return fields.filter((field) => status[field] !== undefined || isClearable(field));
}

/** Empty resources are written once too. */
function isFirstSet(field: Field, before: unknown, after: unknown): boolean {
  return field === 'resources' && !isGiven(before) && isGiven(after);
}

function isClearable(field: Field): boolean {
  return clearable.some((other) => other === field);
}

function isOwnedByKubelet({ type }: Condition): boolean {
  return ownConditionTypes.includes(type) || type === 'DisruptionTarget';
}

function sameConditionText(stored: readonly Condition[], condition: Condition): boolean {
  const known = findCondition(stored, condition.type);
  return (
    known !== undefined &&
    known.status === condition.status &&
    (known.reason ?? '') === (condition.reason ?? '') &&
    (known.message ?? '') === (condition.message ?? '')
  );
}

function patchList(field: string, before: readonly JsonMap[], after: readonly JsonMap[], mergeKey: string): JsonMap {
  const known = new Map(before.map((item) => [ownValue(item, mergeKey), item]));
  const wanted = new Set(after.map((item) => ownValue(item, mergeKey)));
  const changed = after.flatMap((item) => patchItem(known.get(ownValue(item, mergeKey)), item, mergeKey));
  const removed = [...known.keys()].filter((key) => !wanted.has(key));
  const items = [...changed, ...removed.map((key) => ({ $patch: 'delete', [mergeKey]: key }))];
  if (items.length === 0) return {};
  return {
    [`$setElementOrder/${field}`]: after.map((item) => ({ [mergeKey]: ownValue(item, mergeKey) })),
    [field]: items,
  };
}

/** The patch of one item: nothing, all of it, or its key and the changed fields. */
function patchItem(before: JsonMap | undefined, after: JsonMap, mergeKey: string): readonly JsonMap[] {
  if (before === undefined) return [after];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = keys.filter((key) => !semanticallyEqual(ownValue(before, key), ownValue(after, key)));
  if (changed.length === 0) return [];
  const fields = changed.map((key) => [key, isEmpty(ownValue(after, key)) ? null : ownValue(after, key)]);
  return [{ [mergeKey]: ownValue(after, mergeKey), ...Object.fromEntries(fields) }];
}

/**
 * Semantic equality of two JSON values: absent, null, an empty string, an empty list and an empty map are equal,
 * because an API server omits or adds empty values (apimachinery `equality.Semantic.DeepEqual`).
 */
export function semanticallyEqual(a: unknown, b: unknown): boolean {
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(a, b);
  if (!isMap(a) || !isMap(b)) return Object.is(a, b);
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => semanticallyEqual(ownValue(a, key), ownValue(b, key)));
}

/** Neither absent nor null: on the wire both mean unset. */
export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

function isEmpty(value: unknown): boolean {
  if (!isGiven(value) || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.values(value).every(isEmpty);
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, place) => semanticallyEqual(item, b[place]));
}

interface StatusMerge {
  /** Status on the API server. */
  readonly stored: PodStatus;
  readonly wanted: PodStatus;
  /** Something of the pod may still run: then its phase is not terminal yet. */
  readonly mayRun: boolean;
  readonly nowMs: number;
}

/**
 * The kubelet's status merged with the API server's: conditions of other clients stay; a pod that may still run keeps
 * its phase; a pod with a terminal phase is not ready (kubelet `mergePodStatus`).
 */
export function mergeApiStatus({ stored, wanted, mayRun, nowMs }: StatusMerge): PodStatus {
  const ending = !isEndPhase(stored.phase) && isEndPhase(wanted.phase);
  const merged = ending && mayRun ? withoutEnd(stored, wanted) : wanted;
  const conditions = mergeConditions(stored, wanted, ending && !mayRun, nowMs);
  const finalConditions = isEndPhase(merged.phase)
    ? notReady(conditions, merged.phase === 'Failed', nowMs)
    : conditions;
  return finalConditions.length === 0 ? merged : { ...merged, conditions: finalConditions };
}

function withoutEnd({ phase, reason, message }: PodStatus, wanted: PodStatus): PodStatus {
  const { reason: _reason, message: _message, ...rest } = wanted;
  return {
    ...rest,
    phase: phase ?? 'Pending',
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

/** DisruptionTarget is written together with the terminal phase, not before. */
function mergeConditions(stored: PodStatus, wanted: PodStatus, ends: boolean, nowMs: number): readonly Condition[] {
  const foreign = listConditions(stored.conditions).filter(({ type }) => !ownConditionTypes.includes(type));
  const own = listConditions(wanted.conditions);
  const disruption = ends ? findCondition(own, 'DisruptionTarget') : undefined;
  const kept = disruption === undefined ? foreign : foreign.filter(({ type }) => type !== 'DisruptionTarget');
  const known = disruption === undefined ? undefined : findCondition(foreign, 'DisruptionTarget');
  const since = known?.status === disruption?.status ? known?.lastTransitionTime : undefined;
  return [
    ...kept,
    ...own.filter(({ type }) => ownConditionTypes.includes(type)),
    ...(disruption === undefined ? [] : [{ ...disruption, lastTransitionTime: since ?? formatTime(nowMs) }]),
  ];
}

function notReady(conditions: readonly Condition[], failed: boolean, nowMs: number): readonly Condition[] {
  const reason = failed ? 'PodFailed' : 'PodCompleted';
  return conditions.map((condition) => {
    const { type, status } = condition;
    if ((type !== 'Ready' && type !== 'ContainersReady') || status !== 'True') return condition;
    return { type, status: 'False', reason, lastTransitionTime: formatTime(nowMs) };
  });
}
