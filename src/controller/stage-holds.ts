// What holds acts for a node: outages, stale watches, full disruptions, policies, pauses, breakers, planned maintenance, and
// evidence that its taints are about to be removed. It combines stages, which do not know each other.
import type { NodeView } from '../machinery/api/node.ts';
import { objectKey } from '../machinery/api/object-key.ts';
import { hasTaint, taintKeys } from '../machinery/api/taints.ts';
import type { Informer } from '../machinery/informer/informer.ts';
import type { Clock } from '../machinery/ports/clock.ts';
import type { WatchFreshness } from './freshness/watch-freshness.ts';
import { readyOf } from './health/assess-node.ts';
import type { HealthTable } from './health/health-table.ts';
import type { NodeSource } from './model/commands.ts';
import type { ControllerSelection } from './model/options.ts';
import type { OutageWatch } from './outage/outage-watch.ts';
import type { NodeWrite } from './policies/classify-act.ts';
import type { PolicyStage } from './policies/policy-stage.ts';
import type { EvictionHoldsOptions } from './taint-eviction/eviction-holds.ts';
import type { ZoneTable } from './zones/zone-table.ts';

/** How long an act waits that follows the end of maintenance and comes before the pass that counts the node. */
const uncountedRecheckMs = 100;

type NodeEvictionHold = ReturnType<EvictionHoldsOptions['holdOf']>;

/** Read at each question. */
interface HoldingStages {
  readonly nodes: NodeSource;
  readonly policies: PolicyStage;
  readonly freshness: WatchFreshness;
  readonly health: HealthTable;
  readonly zones: ZoneTable;
  readonly outage: OutageWatch;
}

interface StageHoldsOptions {
  readonly controllers: ControllerSelection;
  readonly informers: { readonly nodes: Pick<Informer<NodeView>, 'isUndecoded'> };
  readonly clock: Pick<Clock, 'nowMs'>;
}

export class StageHolds {
  readonly #stages: HoldingStages;
  readonly #options: StageHoldsOptions;

  constructor(stages: HoldingStages, options: StageHoldsOptions) {
    this.#stages = stages;
    this.#options = options;
  }

  /**
   * Records that a write is about to be made, and what holds it. Milliseconds for which the path-failure hold, a policy, a
   * pause or, where it `evicts`, a breaker still holds it; 0 if nothing does.
   */
  noteHeldForMs(write: NodeWrite): number {
    const { policies } = this.#stages;
    const hold = policies.actHoldOf(write);
    policies.noteAct(write, hold);
    const policyMs = hold === undefined ? 0 : Math.max(1, hold.untilMs - this.#options.clock.nowMs());
    return Math.max(this.#heldByOutageMs(write.node), policyMs);
  }

  /**
   * Milliseconds for which planned maintenance still holds what follows from the health of this node; 0 if none does.
   * At its end the next pass counts the node in its zone first: it may be one of many.
   */
  heldByMaintenanceMs(node: string): number {
    const maintenance = this.#stages.policies.maintenanceOf(node);
    if (maintenance !== undefined) return Math.max(1, maintenance.untilMs - this.#options.clock.nowMs());
    if (!this.#stages.policies.maintenance.has(node) || !this.#options.controllers.nodeLifecycle) return 0;
    return uncountedRecheckMs;
  }

  #maintenanceHold(node: string): NodeEvictionHold {
    return this.heldByMaintenanceMs(node) > 0 ? 'maintenance' : undefined;
  }

  #heldByOutageMs(node: string): number {
    const { outage, freshness } = this.#stages;
    return Math.max(0, (outage.heldUntilMs(node) ?? -Infinity) - freshness.nowMs());
  }

  /** What holds all deletions of pods of this node, for whatever taint. */
  policyHoldOf(node: string): ReturnType<NonNullable<EvictionHoldsOptions['policyHoldOf']>> {
    const hold = this.#stages.policies.modeHoldOf(node, 'delete-pods');
    if (hold === undefined) return undefined;
    const forMs = Math.max(0, hold.untilMs - this.#options.clock.nowMs());
    return { why: hold.mode === 'Observe' ? 'observed' : 'paused', forMs };
  }

  /** Hold by an open breaker. Precedes holds that a live read ends: no evidence about one node ends a breaker. */
  #breakerHold(node: string): NodeEvictionHold {
    return this.#stages.policies.breakerHoldOf(node) === undefined ? undefined : 'breaker';
  }

  /** As {@link noteHeldForMs} for the NoExecute taint for the health of this node, which planned maintenance holds too. */
  noteNoExecuteHeldForMs(node: string): number {
    return Math.max(this.noteHeldForMs({ node, act: 'add-taints', evicts: true }), this.heldByMaintenanceMs(node));
  }

  /** What holds the deletion of a pod of this node for its health. */
  evictionHoldOf(node: string): NodeEvictionHold {
    return (
      // First: the others end after a live read of the node, which is no reason to evict during maintenance.
      this.#maintenanceHold(node) ??
      this.evictionHold() ??
      this.#breakerHold(node) ??
      this.#revocationComing(node) ??
      this.#renewedLease(node) ??
      this.#lateCache()
    );
  }

  /** What holds evictions for the health of any node. */
  evictionHold(): NodeEvictionHold {
    if (this.#stages.zones.fullDisruption) return 'full-disruption';
    return this.#stages.freshness.staleness() === undefined ? undefined : 'stale';
  }

  /**
   * The node recovered, for example while no replica led, and its pods became due meanwhile: the new leader finds the
   * taint and an expired countdown, and is about to remove the taint. Where another controller manages taints, this
   * does not apply.
   */
  #revocationComing(name: string): NodeEvictionHold {
    const node = this.#options.controllers.nodeLifecycle ? this.#stages.nodes.get(name) : undefined;
    return node !== undefined && readyOf(node) === 'True' ? 'node-is-ready' : undefined;
  }

  /**
   * The node is unreachable in the cache while its lease is being renewed: the node cache may be stale. Where another
   * controller detects failures, its taints are used as they are.
   */
  #renewedLease(name: string): NodeEvictionHold {
    const record = this.#stages.health.get(name);
    const node = this.#options.controllers.nodeLifecycle ? this.#stages.nodes.get(name) : undefined;
    if (node === undefined || record?.channel !== 'lease' || !record.heartbeatSinceUnknown) return undefined;
    if (readyOf(node) === 'True' || !hasTaint(node.taints, taintKeys.unreachable, 'NoExecute')) return undefined;
    const { freshness, policies } = this.#stages;
    const heartbeatAgoMs = freshness.nowMs() - record.heartbeatAtMs;
    return heartbeatAgoMs <= policies.current(name).nodeMonitorGracePeriodMs ? 'lease-is-renewed' : undefined;
  }

  /** While the watches are observed after an interruption they are open, and deliver what changed. */
  isCacheLate(node: string): boolean {
    if (this.#options.informers.nodes.isUndecoded(objectKey('', node))) return true;
    const why = this.#stages.freshness.staleness();
    return this.#stages.freshness.usesFallback() || (why !== undefined && why !== 'observing');
  }

  /** A recovery shows in the cache after the next list only. */
  #lateCache(): NodeEvictionHold {
    return this.#stages.freshness.usesFallback() ? 'late-cache' : undefined;
  }
}
