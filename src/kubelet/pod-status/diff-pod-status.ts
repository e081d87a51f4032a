import { type Condition, findCondition, listConditions } from '../../api/conditions.ts';
import { isTerminal } from '../decide-pod-work.ts';
import { coversJson } from '../diff-json.ts';
import type { PodStatus } from './derive-pod-status.ts';

const ownFields = ['phase', 'hostIP', 'podIP', 'podIPs', 'startTime', 'containerStatuses'] as const;

/** Does the API server say of this pod what we say, as far as it is ours to say? Times of conditions do not count. */
export function agreesWithApi(api: PodStatus | undefined, ours: PodStatus): boolean {
  return derivePodStatusPatch(api, ours) === undefined;
}

/**
 * The `status` of a strategic-merge patch that makes the API server's status ours; undefined when it is already. Reason
 * and message that somebody else left are taken back; conditions that are not ours stay (kubelet `mergePodStatus`).
 */
export function derivePodStatusPatch(
  api: PodStatus | undefined,
  ours: PodStatus,
): Readonly<Record<string, unknown>> | undefined {
  const status = { ...fieldPatch(api, ours), ...reasonPatch(api, ours), ...conditionPatch(api, ours) };
  return Object.keys(status).length === 0 ? undefined : status;
}

function fieldPatch(api: PodStatus | undefined, ours: PodStatus): Readonly<Record<string, unknown>> {
  const changed = ownFields.filter((field) => !coversJson(api?.[field], ours[field]));
  return Object.fromEntries(changed.map((field) => [field, ours[field]]));
}

function reasonPatch(api: PodStatus | undefined, ours: PodStatus): Readonly<Record<string, unknown>> {
  if (isTerminal(api?.phase)) return {};
  const reason = ours.reason ?? null;
  // Whoever left a reason may have left a message with it; naming it as null when there is none does no harm.
  return (api?.reason ?? null) === reason ? {} : { reason, message: null };
}

function conditionPatch(api: PodStatus | undefined, ours: PodStatus): Readonly<Record<string, unknown>> {
  const told = listConditions(api?.conditions);
  const own = listConditions(ours.conditions);
  const changed = own.filter((condition) => !sameCondition(findCondition(told, condition.type), condition));
  if (changed.length === 0) return {};
  const foreign = told.filter((condition) => findCondition(own, condition.type) === undefined);
  return {
    '$setElementOrder/conditions': [...own, ...foreign].map(({ type }) => ({ type })),
    conditions: changed.map((condition) => replacing(findCondition(told, condition.type), condition)),
  };
}

function sameCondition(told: Condition | undefined, own: Condition): boolean {
  return (
    told !== undefined &&
    told.status === own.status &&
    (told.reason ?? '') === (own.reason ?? '') &&
    (told.message ?? '') === (own.message ?? '')
  );
}

/** A merge keeps what it is not told about: what the stored condition says beyond ours is named as null. */
function replacing(told: Condition | undefined, own: Condition): Readonly<Record<string, unknown>> {
  const gone = (['reason', 'message'] as const).filter((field) => told?.[field] !== undefined);
  return { ...Object.fromEntries(gone.map((field) => [field, null])), ...own };
}
