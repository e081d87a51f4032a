/** The PodDisruptionBudgets of a server, and the evictions that their status allows. */
import { type LabelSelector, selectsLabels } from '../../../../machinery/api/label-selector.ts';
import type { Clock } from '../../../../machinery/ports/clock.ts';
import { forbidden, statusError } from '../../api-errors/api-errors.ts';
import { isMap } from '../../../../machinery/api/select-field.ts';
import type { Draft, StoredObject } from '../../storage/stored-object.ts';
import type { VersionedStore } from '../../storage/versioned-store.ts';
import { spendDisruption } from './build-budget-status.ts';
import { decideEviction, type EvictionDecision } from './decide-eviction.ts';
import type { ObjectRegistry } from '../../registry/object-registry.ts';
import type { Target } from '../../registry/request-target.ts';

interface DisruptionBudgetsOptions {
  readonly store: VersionedStore;
  readonly registry: ObjectRegistry;
  readonly clock: Clock;
  /** All budgets; namespace and name are set here. */
  readonly target: Target;
}

const budgets = { group: 'policy', name: 'poddisruptionbudget' } as const;
const violated = "Cannot evict pod as it would violate the pod's disruption budget.";
const ambiguous = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';

export class DisruptionBudgets {
  readonly #options: DisruptionBudgetsOptions;

  constructor(options: DisruptionBudgetsOptions) {
    this.#options = options;
  }

  /**
   * Whether the pod may be evicted now, and the budget that pays for it. Throws a 403, 429 or 500 ApiError if it may not.
   */
  assertEvictable(pod: StoredObject): EvictionDecision {
    const decision = decideEviction(pod.content, this.#matching(pod));
    switch (decision.kind) {
      case 'wait':
        throw tooManyRequests(decision.cause, decision.retryAfterSeconds);
      case 'forbid':
        throw forbidden(budgets, decision.budget, decision.why);
      case 'ambiguous':
        throw statusError(500, '', ambiguous);
      case 'evict':
      case 'spend':
        return decision;
    }
  }

  /** Counts the eviction in the status of the budget: the disruption controller does not know of it yet. */
  spend(decision: EvictionDecision, pod: StoredObject, dryRun: boolean): void {
    if (decision.kind !== 'spend') return;
    const { registry, clock, target } = this.#options;
    const { name, namespace } = decision.budget.metadata;
    const pay = (draft: Draft): void => {
      draft.status = spendDisruption(draft, pod.name, clock.nowMs());
    };
    registry.amend({ ...target, namespace, name, endpoint: 'status' }, pay, dryRun);
  }

  #matching(pod: StoredObject): readonly Draft[] {
    const budgets = [...this.#options.store.table('poddisruptionbudgets.policy').now().list(pod.namespace)];
    return budgets.map(({ content }) => content).filter((content) => selectsLabels(selectorOf(content), pod.labels));
  }
}

/** The selector of a budget; undefined if it has none, which selects nothing. */
export function selectorOf({ spec }: Draft): LabelSelector | undefined {
  const selector = spec?.['selector'];
  return isMap(selector) ? selector : undefined;
}

function tooManyRequests(cause: string, retryAfterSeconds: number): Error {
  const causes = [{ reason: 'DisruptionBudget', message: cause }];
  const retry = retryAfterSeconds === 0 ? {} : { retryAfterSeconds };
  return statusError(429, 'TooManyRequests', violated, { causes, ...retry });
}
