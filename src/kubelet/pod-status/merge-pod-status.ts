import { type Condition, findCondition, listConditions } from '../../api/conditions.ts';
import { formatTime } from '../../api/timestamps.ts';
import type { PodStatus } from './derive-pod-status.ts';

/**
 * The derived status with its times: a condition that kept its status keeps its transition time, and a pod that has
 * started keeps its start (kubelet status manager `updateStatusInternal`). `before` is what was told last.
 */
export function mergePodStatus(before: PodStatus | undefined, derived: PodStatus, nowMs: number): PodStatus {
  const now = formatTime(nowMs);
  const told = listConditions(before?.conditions);
  const conditions = listConditions(derived.conditions).map((condition) => withTransition(told, condition, now));
  return { ...derived, conditions, startTime: before?.startTime ?? now };
}

function withTransition(told: readonly Condition[], condition: Condition, now: string): Condition {
  const known = findCondition(told, condition.type);
  const kept = known?.status === condition.status ? known.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: kept ?? now };
}
