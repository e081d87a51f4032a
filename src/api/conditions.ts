/** Conditions of nodes and pods, and the words in them that people and dashboards know. */

import type { FieldReader } from './field-reader.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface Condition {
  readonly type: string;
  /** One of {@link ConditionStatus}; anything else a server might send is kept as it is and counts as not ready. */
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastHeartbeatTime?: string;
  readonly lastTransitionTime?: string;
  /** Of pods: never said, and on the wire all the same. */
  readonly lastProbeTime?: string | null;
  /** Of pods: the generation of the pod that this was said of. */
  readonly observedGeneration?: number;
}

/** Conditions that become Unknown together when a node falls silent, in the order in which they are written (2.1 step C). */
export const heartbeatConditionTypes = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

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

/** The conditions of a status that is our own affair: what is no condition is left out. */
export function listConditions(value: unknown): readonly Condition[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

const conditionTexts = [
  'type',
  'status',
  'reason',
  'message',
  'lastHeartbeatTime',
  'lastTransitionTime',
] as const satisfies readonly (keyof Condition)[];

/**
 * The conditions of a status as it arrived; what is none is left out. A status that is no text counts as an answer that
 * nobody knows: not as Ready, and not as no answer either.
 */
export function readConditions(fields: FieldReader, value: unknown): readonly Condition[] {
  const conditions = fields.items<Condition>('status.conditions', value, conditionTexts);
  if (conditions.every(({ status }) => typeof status === 'string')) return conditions;
  return conditions.map((condition) => ({ ...condition, status: asText(condition.status) }));
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
