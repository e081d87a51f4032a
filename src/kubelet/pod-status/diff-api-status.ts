import { type Condition, findCondition, listConditions } from '../../api/conditions.ts';
import { isEmpty, isGiven, sameMeaning } from './derive-same-meaning.ts';
import type { PodStatus } from './derive-api-status.ts';

/** How a kubelet keeps its pods' statuses: `classic` as 1.8 did. */
export type StatusStyle = 'modern' | 'classic';

/** Conditions of a pod that belong to the kubelet, in the order in which it writes them (kubelet `PodConditionByKubelet`). */
export const ownConditionTypes: readonly string[] = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
];

/** What is taken away from the API server when we say nothing of it. */
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

/** Lists whose items a strategic merge tells apart by this field; other lists are replaced as a whole. */
const mergeKeys: Readonly<Record<string, string>> = { conditions: 'type', podIPs: 'ip', hostIPs: 'ip' };

type Json = Readonly<Record<string, unknown>>;

/**
 * Does `told` say what `ours` says, as far as it is ours to say? Times of conditions do not count, nor do conditions of
 * others; in the classic style everything counts (kubelet `isPodStatusByKubeletEqual`).
 */
export function agreesWith(told: PodStatus | undefined, ours: PodStatus, style: StatusStyle): boolean {
  if (style === 'classic') return sameMeaning(told ?? {}, ours);
  const conditions = listConditions(told?.conditions);
  return (
    listConditions(ours.conditions).every((condition) => !isKubelets(condition) || sameWords(conditions, condition)) &&
    ownFields(ours).every((field) => field === 'conditions' || sameMeaning(told?.[field], ours[field]))
  );
}

/**
 * The `status` of a strategic-merge patch that makes `wanted` of what the API server has; undefined when it is so already.
 * An order of conditions alone is not worth a request.
 */
export function deriveStatusPatch(stored: PodStatus | undefined, wanted: PodStatus): Json | undefined {
  const patch: Record<string, unknown> = {};
  for (const field of ownFields(wanted)) {
    const [before, after]: readonly [unknown, unknown] = [stored?.[field], wanted[field]];
    if (isFirstSaid(field, before, after)) patch[field] = after;
    if (sameMeaning(before, after)) continue;
    const mergeKey = mergeKeys[field];
    if (isEmpty(after)) patch[field] = null;
    else if (mergeKey === undefined || isEmpty(before)) patch[field] = after;
    else Object.assign(patch, patchList(field, mapsOf(before), mapsOf(after), mergeKey));
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

type Field = keyof PodStatus;

/** What a kubelet says, or takes back, of a pod. */
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

/** That a pod asks for nothing is said all the same, once. */
function isFirstSaid(field: Field, before: unknown, after: unknown): boolean {
  return field === 'resources' && !isGiven(before) && isGiven(after);
}

function isClearable(field: Field): boolean {
  return clearable.some((other) => other === field);
}

function isKubelets({ type }: Condition): boolean {
  return ownConditionTypes.includes(type) || type === 'DisruptionTarget';
}

function sameWords(told: readonly Condition[], condition: Condition): boolean {
  const known = findCondition(told, condition.type);
  return (
    known !== undefined &&
    known.status === condition.status &&
    (known.reason ?? '') === (condition.reason ?? '') &&
    (known.message ?? '') === (condition.message ?? '')
  );
}

function patchList(field: string, before: readonly Json[], after: readonly Json[], mergeKey: string): Json {
  const known = new Map(before.map((item) => [item[mergeKey], item]));
  const wanted = new Set(after.map((item) => item[mergeKey]));
  const changed = after.flatMap((item) => patchItem(known.get(item[mergeKey]), item, mergeKey));
  const removed = [...known.keys()].filter((key) => !wanted.has(key));
  const items = [...changed, ...removed.map((key) => ({ $patch: 'delete', [mergeKey]: key }))];
  if (items.length === 0) return {};
  return { [`$setElementOrder/${field}`]: after.map((item) => ({ [mergeKey]: item[mergeKey] })), [field]: items };
}

/** What to say of one item: nothing, all of it, or its key and what differs. */
function patchItem(before: Json | undefined, after: Json, mergeKey: string): readonly Json[] {
  if (before === undefined) return [after];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = keys.filter((key) => !sameMeaning(before[key], after[key]));
  if (changed.length === 0) return [];
  const fields = changed.map((key) => [key, isEmpty(after[key]) ? null : after[key]]);
  return [{ [mergeKey]: after[mergeKey], ...Object.fromEntries(fields) }];
}

function mapsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}
