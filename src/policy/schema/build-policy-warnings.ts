// Warnings about valid policies that are risky or without effect.
import { formatGoDuration } from '../../machinery/api/go-duration.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import { canClaimEqually, isSatisfiable } from '../../controller/policies/decide-equal-claims.ts';

/** The duration of the lease of a kubelet, which renews it every 10 s (kubelet `nodeLeaseDurationSeconds`). */
const kubeletLeaseMs = 40_000;

export function buildPolicyWarnings(policies: readonly NodePolicy[]): readonly string[] {
  return [
    ...policies.flatMap(warnOfShortGrace),
    ...policies.flatMap(warnOfEmptySelection),
    ...policies.flatMap(warnOfLimitOfNone),
    ...policies.flatMap(warnOfBudgetOfNone),
    ...policies.flatMap(warnOfOtherMode),
    ...policies.flatMap((policy, index) => warnOfEqualClaims(policy, index, policies)),
  ];
}

function warnOfShortGrace({ name, nodeMonitorGracePeriodMs }: NodePolicy, index: number): readonly string[] {
  if (nodeMonitorGracePeriodMs === undefined || nodeMonitorGracePeriodMs >= kubeletLeaseMs) return [];
  const grace = formatGoDuration(nodeMonitorGracePeriodMs);
  return [
    `policies[${index}].nodeMonitorGracePeriod (policy ${name}) is ${grace}: kubelets renew their lease of ` +
      `${formatGoDuration(kubeletLeaseMs)} every 10s, so below ${formatGoDuration(kubeletLeaseMs)} a few lost requests ` +
      'can mark a healthy node Unknown',
  ];
}

function warnOfEmptySelection({ name, selector }: NodePolicy, index: number): readonly string[] {
  if (isSatisfiable(selector)) return [];
  return [`policies[${index}].nodeSelector (policy ${name}) matches no node: its requirements contradict each other`];
}

/** A percent of few nodes is less than one node. */
function warnOfLimitOfNone({ name, limits }: NodePolicy, index: number): readonly string[] {
  const { percent, count } = limits?.maxUnhealthy ?? {};
  if (percent === undefined || percent === 100 || count !== undefined) return [];
  return [
    `policies[${index}].limits.maxUnhealthy (policy ${name}) has no count: where the policy applies to fewer than ` +
      `${Math.ceil(100 / percent)} nodes the limit is 0, and one unhealthy node opens the breaker; set count too`,
  ];
}

/** Warns of a budget of flapping nodes that keeps none. */
function warnOfBudgetOfNone({ name, flapping }: NodePolicy, index: number): readonly string[] {
  const { percent, count } = flapping?.budget ?? {};
  if (percent === undefined || percent === 100 || count !== undefined) return [];
  return [
    `policies[${index}].flapping.budget (policy ${name}) has no count: where the policy applies to fewer than ` +
      `${Math.ceil(100 / percent)} nodes none of them is kept from new pods; set count too`,
  ];
}

/** Accepted, so that a mode can be changed and changed back. */
function warnOfOtherMode({ name, mode, detect, schedules = [] }: NodePolicy, index: number): readonly string[] {
  const isEver = mode === 'Detect' || schedules.some(({ set }) => set.mode === 'Detect');
  if (detect === undefined || isEver) return [];
  return [`policies[${index}].detect (policy ${name}) has no effect in mode ${mode}: it is for mode Detect`];
}

/** Evident from priorities and selectors alone; whether a node matches both is known only in the cluster. */
function warnOfEqualClaims(policy: NodePolicy, index: number, policies: readonly NodePolicy[]): readonly string[] {
  return policies.flatMap((other, place) => {
    if (place <= index || !canClaimEqually(policy, other)) return [];
    return [
      `policies[${index}] (${policy.name}) and policies[${place}] (${other.name}) have equal priority ` +
        `${policy.priority} and equally many requirements: a node that matches both gets the default policy; set ` +
        'different priorities',
    ];
  });
}
