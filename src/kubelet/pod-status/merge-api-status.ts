import { type Condition, findCondition, listConditions } from '../../api/conditions.ts';
import { formatTime } from '../../api/timestamps.ts';
import type { PodStatus } from './derive-api-status.ts';
import { ownConditionTypes } from './diff-api-status.ts';

export interface StatusMerge {
  /** What the API server has. */
  readonly stored: PodStatus;
  readonly ours: PodStatus;
  /** Something of the pod may still run: then it has not ended, whatever is known of its end. */
  readonly mayRun: boolean;
  readonly nowMs: number;
}

/**
 * Our status joined with what others have written: conditions that are not ours stay; a pod that may still run keeps its
 * phase; one that has ended is not ready (kubelet `mergePodStatus`).
 */
export function mergeApiStatus({ stored, ours, mayRun, nowMs }: StatusMerge): PodStatus {
  const ending = !isEnd(stored.phase) && isEnd(ours.phase);
  const merged = ending && mayRun ? withoutEnd(stored, ours) : ours;
  const conditions = mergeConditions(stored, ours, ending && !mayRun, nowMs);
  const told = isEnd(merged.phase) ? notReady(conditions, merged.phase === 'Failed', nowMs) : conditions;
  return told.length === 0 ? merged : { ...merged, conditions: told };
}

function isEnd(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

function withoutEnd({ phase, reason, message }: PodStatus, ours: PodStatus): PodStatus {
  const { reason: _reason, message: _message, ...rest } = ours;
  return {
    ...rest,
    phase: phase ?? 'Pending',
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

/** Why the pod was disrupted is said in one breath with its end, and not before. */
function mergeConditions(stored: PodStatus, ours: PodStatus, ends: boolean, nowMs: number): readonly Condition[] {
  const told = listConditions(stored.conditions).filter(({ type }) => !ownConditionTypes.includes(type));
  const own = listConditions(ours.conditions);
  const disruption = ends ? findCondition(own, 'DisruptionTarget') : undefined;
  const kept = disruption === undefined ? told : told.filter(({ type }) => type !== 'DisruptionTarget');
  const known = disruption === undefined ? undefined : findCondition(told, 'DisruptionTarget');
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
