/**
 * Keeps the status of PodDisruptionBudgets up to date (upstream `pkg/controller/disruption`). All that a budget depends on is
 * in its namespace: a pass computes the budgets of namespaces with changes, and once a minute, or after a failure, all.
 */
import { sameJson } from '../../../../machinery/api/json-values.ts';
import { compileSelector } from '../../../../machinery/api/label-selector.ts';
import { parseTimestamp } from '../../../../machinery/api/timestamps.ts';
import type { Clock } from '../../../../machinery/ports/clock.ts';
import { buildBudgetStatus, disruptedPodMs } from './build-budget-status.ts';
import { selectorOf } from './disruption-budgets.ts';
import type { ObjectRegistry } from '../../registry/object-registry.ts';
import type { Target } from '../../registry/request-target.ts';
import { mapAt } from '../../select-field.ts';
import type { StoreChange } from '../../storage/store-change.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import type { VersionedStore } from '../../storage/versioned-store.ts';
import type { ServerController } from '../../controllers/controller-loop.ts';
import { expectedScale, scaleTables } from './expected-scale.ts';
import { factsOf } from '../../controllers/object-facts.ts';

interface DisruptionControllerOptions {
  readonly store: VersionedStore;
  readonly registry: ObjectRegistry;
  readonly clock: Clock;
  /** All budgets. */
  readonly target: Target;
}

const table = 'poddisruptionbudgets.policy';
const fullPassMs = 60_000;

export class DisruptionController implements ServerController {
  readonly name = 'disruption-controller';
  readonly tables = [table, 'pods', ...scaleTables];
  readonly #options: DisruptionControllerOptions;
  /** Namespaces with changes since the last pass. */
  #changed = new Set<string>();
  /** When the first eviction that did not delete its pod is no longer counted, by namespace. */
  #recheckAtMs: ReadonlyMap<string, number> = new Map();
  #fullPassAtMs = 0;

  constructor(options: DisruptionControllerOptions) {
    this.#options = options;
  }

  observe({ object }: StoreChange): void {
    this.#changed.add(object.namespace);
  }

  /** Runs again when the first eviction that did not delete its pod is no longer counted. */
  sync(): number | undefined {
    const { store, clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const isFullPass = startedAtMs >= this.#fullPassAtMs;
    const fullPassAtMs = isFullPass ? startedAtMs + fullPassMs : this.#fullPassAtMs;
    const changed = this.#changed;
    this.#changed = new Set();
    // After a failure below, the next pass is a full one.
    this.#fullPassAtMs = startedAtMs;
    const rechecks = new Map<string, number>();
    for (const [namespace, budgets] of Map.groupBy(store.table(table).now().from(''), namespaceOf)) {
      const recheckAtMs = this.#recheckAtMs.get(namespace) ?? Number.POSITIVE_INFINITY;
      const isDue = isFullPass || changed.has(namespace) || recheckAtMs <= clock.nowMs();
      rechecks.set(namespace, isDue ? this.#syncNamespace(namespace, budgets) : recheckAtMs);
    }
    this.#recheckAtMs = rechecks;
    this.#fullPassAtMs = fullPassAtMs;
    const nextMs = Math.min(...rechecks.values());
    return nextMs === Number.POSITIVE_INFINITY ? undefined : Math.max(nextMs - clock.nowMs(), 1);
  }

  /** When it must be computed again without a change. */
  #syncNamespace(namespace: string, budgets: readonly StoredObject[]): number {
    const prefix = `${namespace}/`;
    const pods: StoredObject[] = [];
    for (const pod of this.#options.store.table('pods').now().from(prefix)) {
      if (!pod.key.startsWith(prefix)) break;
      pods.push(pod);
    }
    return Math.min(...budgets.map((budget) => this.#syncBudget(budget, pods)));
  }

  /** `pods` are those of its namespace. */
  #syncBudget({ name, namespace, content }: StoredObject, pods: readonly StoredObject[]): number {
    const { store, registry, clock, target } = this.#options;
    const isSelected = compileSelector(selectorOf(content));
    const selected = pods.filter(({ labels }) => isSelected(labels));
    const scale = expectedScale(store, selected);
    const nowMs = clock.nowMs();
    const status = buildBudgetStatus({ budget: content, pods: selected.map(factsOf), scale, nowMs });
    if (!sameJson(status, content.status)) {
      registry.amend(
        { ...target, name, namespace, endpoint: 'status' },
        (draft) => Object.assign(draft, { status }),
        false,
      );
    }
    const times = Object.values(mapAt(status, 'disruptedPods')).map((time) => parseTimestamp(String(time)) ?? nowMs);
    return Math.min(...times) + disruptedPodMs + 1;
  }
}

function namespaceOf({ namespace }: StoredObject): string {
  return namespace;
}
