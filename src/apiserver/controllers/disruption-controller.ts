/** Keeps the status of PodDisruptionBudgets up to date (upstream `pkg/controller/disruption`). */
import { sameJson } from '../../api/same-json.ts';
import { selectsLabels } from '../../api/label-selector.ts';
import { parseTimestamp } from '../../api/timestamps.ts';
import type { Clock } from '../../ports/clock.ts';
import { buildBudgetStatus, disruptedPodMs } from '../registry/build-budget-status.ts';
import { selectorOf } from '../registry/disruption-budgets.ts';
import type { ObjectRegistry } from '../registry/object-registry.ts';
import type { Target } from '../registry/request-target.ts';
import { mapAt, mapsAt } from '../select-field.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import type { ServerController } from './controller-loop.ts';
import { expectedScale, scaleTables } from './expected-scale.ts';

interface DisruptionControllerOptions {
  readonly store: VersionedStore;
  readonly registry: ObjectRegistry;
  readonly clock: Clock;
  /** All budgets. */
  readonly target: Target;
}

const table = 'poddisruptionbudgets.policy';

export class DisruptionController implements ServerController {
  readonly name = 'disruption-controller';
  readonly tables = [table, 'pods', ...scaleTables];
  readonly #options: DisruptionControllerOptions;

  constructor(options: DisruptionControllerOptions) {
    this.#options = options;
  }

  /** Runs again when the first eviction that did not delete its pod is no longer counted. */
  sync(): number | undefined {
    const budgets = [...this.#options.store.table(table).now().from('')];
    const delays = budgets.map((budget) => this.#syncBudget(budget));
    return delays.length === 0 ? undefined : Math.min(...delays);
  }

  #syncBudget(budget: StoredObject): number {
    const { store, registry, clock, target } = this.#options;
    const pods = this.#podsOf(budget);
    const scale = expectedScale(store, pods);
    const nowMs = clock.nowMs();
    const status = buildBudgetStatus({ budget: budget.content, pods: pods.map(asBudgetPod), scale, nowMs });
    if (!sameJson(status, budget.content.status)) {
      const { name, namespace } = budget;
      registry.amend(
        { ...target, name, namespace, endpoint: 'status' },
        (draft) => Object.assign(draft, { status }),
        false,
      );
    }
    const times = Object.values(mapAt(status, 'disruptedPods')).map((time) => parseTimestamp(String(time)) ?? nowMs);
    return times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(Math.min(...times) + disruptedPodMs - nowMs, 0) + 1;
  }

  #podsOf({ content, namespace }: StoredObject): readonly StoredObject[] {
    const selector = selectorOf(content);
    const prefix = `${namespace}/`;
    const pods: StoredObject[] = [];
    for (const pod of this.#options.store.table('pods').now().from(prefix)) {
      if (!pod.key.startsWith(prefix)) break;
      if (selectsLabels(selector, pod.labels)) pods.push(pod);
    }
    return pods;
  }
}

function asBudgetPod({ name, content }: StoredObject): { name: string; isDeleted: boolean; isReady: boolean } {
  const ready = mapsAt(content, 'status', 'conditions').find(({ type }) => type === 'Ready');
  const isDeleted = content.metadata.deletionTimestamp !== undefined;
  return { name, isDeleted, isReady: ready?.['status'] === 'True' };
}
