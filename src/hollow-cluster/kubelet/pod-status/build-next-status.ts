import { type Condition, findCondition, listConditions } from '../../../machinery/api/conditions.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import { formatTime } from '../../../machinery/api/timestamps.ts';
import type { PodStatus } from './build-api-status.ts';
import { buildNormalStatus } from './build-normal-status.ts';
import { ownConditionTypes } from './build-own-conditions.ts';
import type { StatusStyle } from './diff-api-status.ts';

/** Conditions whose transition times the status manager sets. */
const timedTypes: Readonly<Record<StatusStyle, readonly string[]>> = {
  'v1.36': [...ownConditionTypes, 'DisruptionTarget'],
  'v1.8': ['Ready', 'Initialized'],
};

interface NextStatus {
  readonly pod: Pod;
  /** The last status, or else the API server's. */
  readonly before: PodStatus;
  readonly wanted: PodStatus;
  readonly style: StatusStyle;
  readonly nowMs: number;
}

/**
 * The status with its times: a condition with an unchanged status keeps its transition time, a started pod keeps its
 * start time (kubelet status manager `updateStatusInternal`).
 */
export function buildNextStatus({ pod, before, wanted, style, nowMs }: NextStatus): PodStatus {
  const now = formatTime(nowMs);
  const conditionsBefore = listConditions(before.conditions);
  const conditions = listConditions(wanted.conditions).map((condition) =>
    timedTypes[style].includes(condition.type) ? withTransition(conditionsBefore, condition, now) : condition,
  );
  const startTime = before.startTime ?? wanted.startTime ?? now;
  return buildNormalStatus(pod, { ...wanted, ...(conditions.length === 0 ? {} : { conditions }), startTime });
}

function withTransition(conditionsBefore: readonly Condition[], condition: Condition, now: string): Condition {
  const known = findCondition(conditionsBefore, condition.type);
  const kept = known?.status === condition.status ? known.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: kept ?? now };
}
