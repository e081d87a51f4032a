/** Conditions of nodes and pods, and kube-controller-manager's condition reasons and messages. */

import type { FieldReader } from './field-reader.ts';
import { cutText, listLimits, textCharsMax } from './limits.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface Condition {
  readonly type: string;
  /** One of {@link ConditionStatus}; any other value is kept as received and is treated as not ready. */
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastHeartbeatTime?: string;
  readonly lastTransitionTime?: string;
  /** Pods only: always null, and present on the wire. */
  readonly lastProbeTime?: string | null;
  /** Pods only: `metadata.generation` of the pod that the condition was set for. */
  readonly observedGeneration?: number;
}

/** Conditions that become Unknown together when a node's heartbeats stop, in the order in which they are written. */
export const heartbeatConditionTypes = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/**
 * Conditions by which a node says in which part of its life it is (KEP-5683). No core component of Kubernetes 1.37 writes or reads
 * them.
 */
export const lifecycleConditions = [
  'MaintenancePlanned',
  'MaintenanceInProgress',
  'DrainInProgress',
  'Drained',
  'GracefulNodeShutdownInProgress',
] as const;

/** What means planned maintenance where a policy does not say it. */
export const maintenanceConditions = ['MaintenanceInProgress'] as const;

/** The conditions that the controller itself reads, of nodes and of pods. */
export const knownConditionTypes: readonly string[] = [
  ...heartbeatConditionTypes,
  'NetworkUnavailable',
  ...lifecycleConditions,
  'PodScheduled',
  'DisruptionTarget',
];

export const neverUpdated = { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' } as const;
export const stoppedPosting = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' } as const;
export const evictedByTaint = {
  type: 'DisruptionTarget',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
} as const;

export function findCondition(conditions: readonly Condition[], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

/** The conditions of a status that this process wrote; items that are not objects are dropped. */
export function listConditions(value: unknown): readonly Condition[] {
  if (!Array.isArray(value)) return [];
  return value.every(isObject) ? value : value.filter(isObject);
}

function isObject(item: unknown): boolean {
  return typeof item === 'object' && item !== null;
}

const conditionTexts = ['type', 'status', 'reason', 'message'] as const satisfies readonly (keyof Condition)[];
export const conditionTimes = [
  'lastHeartbeatTime',
  'lastTransitionTime',
] as const satisfies readonly (keyof Condition)[];

/** Texts of a condition that are shown, or compared with short words. Its type is the key by which a patch merges: whole. */
const shownTexts = ['status', 'reason', 'message'] as const satisfies readonly (keyof Condition)[];

/**
 * The conditions of a status as received, with long texts cut, of more than are used the first and the known ones; items that
 * are not objects are dropped. A `status` that is not a string becomes its JSON text: an unknown value is neither Ready nor a
 * missing status.
 */
export function readConditions(fields: FieldReader, value: unknown): readonly Condition[] {
  const items = fields.items<Condition>('status.conditions', value, conditionTexts);
  const conditions = fields.limited('status.conditions', items, listLimits.conditions, isKnown);
  // The same list if nothing changes: a million pods have five conditions each.
  return conditions.every(isBounded) ? conditions : conditions.map(bounded);
}

function isBounded(condition: Condition): boolean {
  return typeof condition.status === 'string' && shownTexts.every((name) => !isLong(condition[name]));
}

function bounded(condition: Condition): Condition {
  const texts: Condition = { ...condition, status: asText(condition.status) };
  const long = shownTexts.filter((name) => isLong(texts[name]));
  return { ...texts, ...Object.fromEntries(long.map((name) => [name, cutText(texts[name] ?? '')])) };
}

function isLong(text: unknown): boolean {
  return typeof text === 'string' && text.length > textCharsMax;
}

function isKnown({ type }: Condition): boolean {
  return knownConditionTypes.includes(type);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
