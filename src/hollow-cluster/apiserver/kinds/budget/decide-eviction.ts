/**
 * Whether a pod may be evicted now (upstream `pkg/registry/core/pod/storage/eviction.go`). A budget allows as many
 * evictions as its status says; the disruption controller computes that number, each eviction takes one.
 */
import { hasCondition, mapAt, mapsAt, numberAt, textAt } from '../../../../machinery/api/select-field.ts';

/** An object as it is stored. */
interface Stored {
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
  };
  readonly [field: string]: unknown;
}

export type EvictionDecision =
  | { readonly kind: 'evict' }
  /** The eviction is counted in the status of the budget. */
  | { readonly kind: 'spend'; readonly budget: Stored }
  /** Try later. The cause is that of the 429 Status. */
  | { readonly kind: 'wait'; readonly cause: string; readonly retryAfterSeconds: number }
  /** The budget's status is invalid. */
  | { readonly kind: 'forbid'; readonly budget: string; readonly why: string }
  | { readonly kind: 'ambiguous' };

/** Evictions that the disruption controller has not seen yet. */
const disruptedPodsMax = 2_000;
const retryUnobservedSeconds = 10;

/** `budgets` are those whose selector matches the pod. */
export function decideEviction(pod: Stored, budgets: readonly Stored[]): EvictionDecision {
  if (needsNoBudget(pod)) return { kind: 'evict' };
  const [budget, ...others] = budgets;
  if (budget === undefined) return { kind: 'evict' };
  if (others.length > 0) return { kind: 'ambiguous' };
  if (!hasCondition(pod, 'Ready') && toleratesUnhealthy(budget)) return { kind: 'evict' };
  return decideSpending(budget);
}

function needsNoBudget({ metadata, status }: Stored): boolean {
  if (metadata.deletionTimestamp !== undefined) return true;
  return ['Pending', 'Succeeded', 'Failed'].includes(textAt(status, 'phase'));
}

/** An unhealthy pod does not count as available, so that its eviction takes nothing from the budget. */
function toleratesUnhealthy(budget: Stored): boolean {
  if (textAt(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const desired = numberAt(budget, 'status', 'desiredHealthy');
  return desired > 0 && numberAt(budget, 'status', 'currentHealthy') >= desired;
}

function decideSpending(budget: Stored): EvictionDecision {
  const { name = '', generation = 0 } = budget.metadata;
  if (numberAt(budget, 'status', 'observedGeneration') < generation) {
    const cause = `The disruption budget ${name} is still being processed by the server.`;
    return { kind: 'wait', cause, retryAfterSeconds: retryUnobservedSeconds };
  }
  const allowed = numberAt(budget, 'status', 'disruptionsAllowed');
  if (allowed < 0) return { kind: 'forbid', budget: name, why: 'pdb disruptions allowed is negative' };
  if (Object.keys(mapAt(budget, 'status', 'disruptedPods')).length > disruptedPodsMax) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    return { kind: 'forbid', budget: name, why };
  }
  return allowed > 0
    ? { kind: 'spend', budget }
    : { kind: 'wait', cause: describeExhausted(budget), retryAfterSeconds: 0 };
}

/** The first of these that applies; the numbers of a status whose computation failed are not used. */
function describeExhausted(budget: Stored): string {
  const { name = '' } = budget.metadata;
  const condition = mapsAt(budget, 'status', 'conditions').find(({ type }) => type === 'DisruptionAllowed');
  const [reason, message] = [textAt(condition, 'reason'), textAt(condition, 'message')];
  const isFailed = condition?.['status'] === 'False' && message !== '';
  const refuses = `The disruption budget ${name} does not allow evicting pods currently`;
  if (isFailed && reason === 'SyncFailed') return `${refuses} because it failed sync: ${message}`;
  const desired = numberAt(budget, 'status', 'desiredHealthy');
  const current = numberAt(budget, 'status', 'currentHealthy');
  if (current <= desired)
    return `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`;
  return isFailed ? `${refuses} (${reason}): ${message}` : refuses;
}
