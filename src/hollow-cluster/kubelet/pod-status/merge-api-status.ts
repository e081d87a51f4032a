import { type Condition, findCondition, listConditions } from '../../../machinery/api/conditions.ts';
import { formatTime } from '../../../machinery/api/timestamps.ts';
import type { PodStatus } from './build-api-status.ts';
import { ownConditionTypes } from './build-own-conditions.ts';
import { isEndPhase } from '../pod-config/classify-pod.ts';

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
