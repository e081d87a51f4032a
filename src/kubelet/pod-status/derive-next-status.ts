import { type Condition, findCondition, listConditions } from '../../api/conditions.ts';
import type { Pod } from '../../api/pod.ts';
import { formatTime } from '../../api/timestamps.ts';
import type { PodStatus } from './derive-api-status.ts';
import { deriveNormalStatus } from './derive-normal-status.ts';
import { ownConditionTypes, type StatusStyle } from './diff-api-status.ts';

/** Whose transition times the status manager keeps. */
const timedTypes: Readonly<Record<StatusStyle, readonly string[]>> = {
  modern: [...ownConditionTypes, 'DisruptionTarget'],
  classic: ['Ready', 'Initialized'],
};

export interface NextStatus {
  readonly pod: Pod;
  /** What was said last, or else what the API server says. */
  readonly before: PodStatus;
  readonly wanted: PodStatus;
  readonly style: StatusStyle;
  readonly nowMs: number;
}

/**
 * The status with its times: a condition that kept its status keeps its transition time, a pod that has started keeps its
 * start (kubelet status manager `updateStatusInternal`).
 */
export function deriveNextStatus({ pod, before, wanted, style, nowMs }: NextStatus): PodStatus {
  const now = formatTime(nowMs);
  const told = listConditions(before.conditions);
  const conditions = listConditions(wanted.conditions).map((condition) =>
    timedTypes[style].includes(condition.type) ? withTransition(told, condition, now) : condition,
  );
  const startTime = before.startTime ?? wanted.startTime ?? now;
  return deriveNormalStatus(pod, { ...wanted, ...(conditions.length === 0 ? {} : { conditions }), startTime });
}

function withTransition(told: readonly Condition[], condition: Condition, now: string): Condition {
  const known = findCondition(told, condition.type);
  const kept = known?.status === condition.status ? known.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: kept ?? now };
}
