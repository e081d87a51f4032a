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

export class ResourceQuotaController implements ServerController {
  readonly name = 'resourcequota-controller';
  readonly tables: readonly string[];
  readonly #options: ResourceQuotaControllerOptions;
  /** Namespaces with changes since the last pass. */
  #changed = new Set<string>();
  /** When a pod is no longer counted because its grace period is over, by namespace. */
  #recheckAtMs: ReadonlyMap<string, number> = new Map();
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

  /** Runs again when a pod is no longer counted because its grace period is over. */
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
    for (const [namespace, quotas] of Map.groupBy(store.table(table).now().from(''), namespaceOf)) {
      const recheckAtMs = this.#recheckAtMs.get(namespace) ?? Number.POSITIVE_INFINITY;
      const isDue = isFullPass || changed.has(namespace) || recheckAtMs <= clock.nowMs();
      rechecks.set(namespace, isDue ? Math.min(...quotas.map((quota) => this.#syncQuota(quota))) : recheckAtMs);
    }
    this.#recheckAtMs = rechecks;
    this.#fullPassAtMs = fullPassAtMs;
    const nextMs = Math.min(...rechecks.values());
    return nextMs === Number.POSITIVE_INFINITY ? undefined : Math.max(nextMs - clock.nowMs(), 1);
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

function namespaceOf({ namespace }: StoredObject): string {
  return namespace;
}
