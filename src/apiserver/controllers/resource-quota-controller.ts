/**
 * Keeps the status of ResourceQuotas up to date (upstream `pkg/controller/resourcequota`): a pass computes the quotas of
 * namespaces with changes, and once a minute, or after a failure, all. Requests are limited by what is stored, not by this.
 */
import type { Clock } from '../../ports/clock.ts';
import { buildQuotaStatus } from '../quota/build-quota-status.ts';
import { changesUsage } from '../quota/evaluators.ts';
import type { QuotaUsages } from '../quota/quota-usages.ts';
import type { ObjectRegistry } from '../registry/object-registry.ts';
import type { Target } from '../registry/request-target.ts';
import type { StoreChange } from '../storage/store-change.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import type { ServerController } from './controller-loop.ts';

interface ResourceQuotaControllerOptions {
  readonly store: VersionedStore;
  readonly registry: ObjectRegistry;
  readonly clock: Clock;
  readonly usages: QuotaUsages;
  /** All quotas. */
  readonly target: Target;
}

const table = 'resourcequotas';
const fullPassMs = 60_000;
/** A longer pass would hold up requests: the next one does the rest. */
const passMs = 20;

export class ResourceQuotaController implements ServerController {
  readonly name = 'resourcequota-controller';
  readonly tables: readonly string[];
  readonly #options: ResourceQuotaControllerOptions;
  /** Namespaces to compute. */
  readonly #changed = new Set<string>();
  /** When a pod is no longer counted because its grace period is over, by namespace. */
  readonly #recheckAtMs = new Map<string, number>();
  #fullPassAtMs = 0;

  constructor(options: ResourceQuotaControllerOptions) {
    this.#options = options;
    this.tables = options.usages.tables;
  }

  /** Without quotas nothing does; most objects are only counted. */
  concerns(changedTable: string, { kind }: StoreChange): boolean {
    if (changedTable === table) return true;
    return this.#options.store.table(table).size > 0 && (kind !== 'modified' || changesUsage(changedTable));
  }

  observe({ object }: StoreChange): void {
    this.#changed.add(object.namespace);
  }

  /** Runs again when a pod is no longer counted because its grace period is over, or for what a long pass left. */
  sync(): number | undefined {
    const { clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    this.#noteDue(startedAtMs);
    const fullPassAtMs = this.#fullPassAtMs;
    // After a failure below, the next pass is a full one.
    this.#fullPassAtMs = startedAtMs;
    for (const namespace of this.#changed) {
      this.#changed.delete(namespace);
      this.#syncNamespace(namespace);
      if (clock.monotonicMs() - startedAtMs >= passMs) break;
    }
    this.#fullPassAtMs = fullPassAtMs;
    if (this.#changed.size > 0) return 1;
    const nextMs = Math.min(...this.#recheckAtMs.values());
    return nextMs === Number.POSITIVE_INFINITY ? undefined : Math.max(nextMs - clock.nowMs(), 1);
  }

  /** Adds the namespaces whose time has come. */
  #noteDue(startedAtMs: number): void {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    for (const [namespace, recheckAtMs] of this.#recheckAtMs) if (recheckAtMs <= nowMs) this.#changed.add(namespace);
    if (startedAtMs < this.#fullPassAtMs) return;
    for (const { namespace } of store.table(table).now().from('')) this.#changed.add(namespace);
    this.#fullPassAtMs = startedAtMs + fullPassMs;
  }

  #syncNamespace(namespace: string): void {
    this.#recheckAtMs.delete(namespace);
    let recheckAtMs = Number.POSITIVE_INFINITY;
    const prefix = `${namespace}/`;
    for (const quota of this.#options.store.table(table).now().from(prefix)) {
      if (!quota.key.startsWith(prefix)) break;
      recheckAtMs = Math.min(recheckAtMs, this.#syncQuota(quota));
    }
    if (recheckAtMs !== Number.POSITIVE_INFINITY) this.#recheckAtMs.set(namespace, recheckAtMs);
  }

  /** When it must be computed again without a change. */
  #syncQuota({ name, namespace, content }: StoredObject): number {
    const { registry, clock, target, usages } = this.#options;
    const { status, changesAtMs } = buildQuotaStatus(content, { namespace, usages, nowMs: clock.nowMs() });
    if (status !== undefined) {
      const at = { ...target, name, namespace, endpoint: 'status' } as const;
      registry.amend(at, (draft) => Object.assign(draft, { status }), false);
    }
    return changesAtMs + 1;
  }
}
