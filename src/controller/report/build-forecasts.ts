// Predictions for nodes and pods. Times are on the monotonic clock; Infinity: not in the current state.
import { type Taint, taintKeys } from '../../machinery/api/taints.ts';
import { type Toleration, tolerationFinder } from '../../machinery/api/tolerations.ts';
import type { EvictionMark } from '../model/node-state.ts';
import {
  buildNodeHolds,
  estimateBreakerEndMs,
  estimateRemovalMs,
  estimateMaintenanceEndMs,
  estimatePauseEndMs,
} from './build-holds.ts';
import { type Forecast, formatEstimate } from './format-time.ts';
import { estimateSlotMs, type RateChange } from './estimate-slot.ts';
import type {
  ClusterReport,
  Estimate,
  EvictionOutlook,
  Given,
  NextAction,
  NodeEvictionReport,
  NodeReport,
  PodBrief,
  ZoneReport,
} from './reports.ts';

export type Action = Forecast<NextAction>;
export type EvictionForecast = Forecast<EvictionOutlook>;

/** What will evict the pods of a node: at most one of the two. */
export interface NodeForecast {
  /** The NoExecute taint that it waits for, or would get without a further heartbeat. */
  readonly taint?: { readonly key: string; readonly given: Given; readonly atMs: number } | undefined;
  /** Eviction mode: when its pods are deleted. */
  readonly eviction?:
    | {
        readonly mark: EvictionMark;
        readonly given: Given;
        /** Time at which the node is queued; null if it is or was queued, or was not evaluated yet. */
        readonly due: Estimate | null;
        /** Time at which the node is served, or for an evicted node at which its pods may be deleted. */
        readonly atMs: number;
      }
    | undefined;
}

/** Prediction for a node, by mode; empty if this process does not run the node lifecycle controller. */
export function buildNodeForecast(report: NodeReport, cluster: ClusterReport): NodeForecast {
  if (!cluster.runs.nodeLifecycle) return {};
  return report.eviction === undefined
    ? { taint: buildTaintForecast(report, cluster) }
    : { eviction: buildNodeEvictionForecast(report, report.eviction, cluster) };
}

/** A node that no longer exists keeps its place in the queue, and its pods are deleted when it is served. */
export function buildLostNodeForecast(node: string, zone: ZoneReport, cluster: ClusterReport): NodeForecast {
  const atMs = estimateNodeSlotMs(node, zone, { atMs: cluster.now.monotonicMs }, cluster);
  return { eviction: { mark: 'to-be-evicted', given: 'nothing-changes', due: null, atMs } };
}

/** Eviction of a pod: the scheduled one, or what the prediction for its node means for the pod. */
export function buildEvictionForecast(
  { pod, tolerations, timedEviction, wait, terminating, daemonSet, keeper }: PodBrief,
  { taint, eviction }: NodeForecast,
  cluster: ClusterReport,
): EvictionForecast | undefined {
  if (timedEviction !== undefined) return buildScheduledForecast({ pod, wait }, timedEviction, cluster);
  // A policy that keeps it does so in every case that is left.
  if (terminating || keeper !== undefined) return undefined;
  if (eviction !== undefined) {
    const state = eviction.mark === 'evicted' ? 'scheduled' : 'predicted';
    const { given } = eviction;
    const atMs = Math.max(eviction.atMs, estimateRemovalMs(wait));
    return daemonSet === undefined ? { pod, state, cause: { kind: 'node-evicted' }, given, atMs } : undefined;
  }
  if (taint === undefined || !cluster.runs.taintEviction) return undefined;
  const { key, given, atMs } = taint;
  const { seconds } = buildTolerance(tolerations, { key, effect: 'NoExecute' });
  if (seconds === Infinity) return undefined;
  const cause = { kind: 'taint', taint: key, toleratedSeconds: seconds } as const;
  return { pod, state: 'predicted', cause, given, atMs: atMs + seconds * 1_000 };
}

function buildScheduledForecast(
  { pod, wait }: Pick<PodBrief, 'pod' | 'wait'>,
  { taint, forHealth, toleratedSeconds, atMs: dueAtMs }: NonNullable<PodBrief['timedEviction']>,
  cluster: ClusterReport,
): EvictionForecast {
  const atMs = isEvictionHeld(forHealth, cluster)
    ? Infinity
    : Math.max(dueAtMs, estimatePauseEndMs(cluster), estimateHealthHoldMs(forHealth, cluster), estimateRemovalMs(wait));
  const cause = { kind: 'taint', taint, toleratedSeconds } as const;
  return { pod, state: 'scheduled', cause, given: 'nothing-changes', atMs };
}

/**
 * How long a pod tolerates a taint (upstream `GetMatchingTolerations` and `getMinTolerationTime`, for one taint), with
 * the first match in the pod's order. 0 s: not tolerated. Infinity: without a time limit.
 */
function buildTolerance(
  tolerations: readonly Toleration[],
  taint: Taint,
): { readonly toleration: Toleration | undefined; readonly seconds: number } {
  return toleranceOf(tolerationFinder(tolerations, 1)(taint));
}

/** How long the matching toleration tolerates its taint; undefined: none matches. */
export function toleranceOf(toleration: Toleration | undefined): {
  readonly toleration: Toleration | undefined;
  readonly seconds: number;
} {
  if (toleration === undefined) return { toleration, seconds: 0 };
  return { toleration, seconds: Math.max(0, toleration.tolerationSeconds ?? Infinity) };
}

/** Undefined where it has a NoExecute taint or there is no cause. */
function buildTaintForecast(report: NodeReport, cluster: ClusterReport): NodeForecast['taint'] {
  const { node, zone, ready, health, taints, awaited } = report;
  if (taints.rationedKey !== undefined) {
    // What the others do decides; it is no prediction for this node alone.
    const atMs =
      awaited === undefined ? estimateNodeSlotMs(node, zone, { atMs: cluster.now.monotonicMs }, cluster) : Infinity;
    return { key: taints.rationedKey, given: 'nothing-changes', atMs };
  }
  if (health === undefined || ready === 'Unknown' || ready === 'False') return undefined;
  const change = rateChange(report, cluster);
  const isUnknown = buildNodeHolds(report).length > 0 || awaited !== undefined;
  const atMs = isUnknown ? Infinity : estimateNodeSlotMs(node, zone, { atMs: change.atMs, change }, cluster);
  return { key: taintKeys.unreachable, given: 'no-heartbeat', atMs };
}

/** Assumes no further heartbeat. */
function buildNodeEvictionForecast(
  report: NodeReport,
  eviction: NodeEvictionReport,
  cluster: ClusterReport,
): NodeForecast['eviction'] {
  const { mark, dueAtMs } = eviction;
  const freeAtMs = estimateFreeAtMs(cluster);
  if (mark === 'evicted') {
    const atMs = Math.max(cluster.now.monotonicMs, freeAtMs);
    return { mark, given: 'nothing-changes', due: null, atMs };
  }
  // Ready=False lasts until the kubelet reports otherwise; silence ends with any heartbeat.
  const given = report.ready === 'False' ? 'nothing-changes' : 'no-heartbeat';
  const isTimed = mark === 'unmarked' && dueAtMs !== undefined;
  const due = isTimed ? formatEstimate(freeAtMs === Infinity ? Infinity : dueAtMs, cluster.now) : null;
  return { mark, given, due, atMs: evictionSlotMs(report, eviction, cluster) };
}

function evictionSlotMs(report: NodeReport, { dueAtMs, beforeMs }: NodeEvictionReport, cluster: ClusterReport): number {
  const { node, ready, zone, awaited } = report;
  const becomesSilent = ready !== 'False' && ready !== 'Unknown';
  if (dueAtMs === undefined || awaited !== undefined || (becomesSilent && buildNodeHolds(report).length > 0))
    return Infinity;
  const atMs = Math.max(dueAtMs, cluster.now.monotonicMs);
  const change = becomesSilent ? rateChange(report, cluster) : undefined;
  return estimateNodeSlotMs(node, zone, { atMs, beforeMs, change }, cluster);
}

/** How a node that is not queued yet will be queued. */
interface Joining {
  readonly atMs: number;
  /** When other nodes will be queued before it. */
  readonly beforeMs?: readonly number[];
  /** Effect of its own silence on the zone's rate. */
  readonly change?: RateChange | undefined;
}

/** Time at which a node is served in the queue of its zone: with a token of its zone and one of the outer zone. */
function estimateNodeSlotMs(
  node: string,
  { queue, outer }: ZoneReport,
  { atMs, beforeMs = [], change }: Joining,
  cluster: ClusterReport,
): number {
  const ahead = queue.nodes.indexOf(node);
  const queuedMs = queue.nodes.map(() => -Infinity);
  const arrivalsMs = ahead >= 0 ? queuedMs.slice(0, ahead + 1) : [...queuedMs, ...beforeMs, atMs];
  const conditions = { notBeforeMs: estimateFreeAtMs(cluster), change: ahead >= 0 ? undefined : change };
  const slotMs = estimateSlotMs(queue, arrivalsMs, conditions);
  if (outer === undefined) return slotMs;
  // Its zones take its tokens one after the other.
  const othersMs = outer.competing.flatMap((waiting) => queuedTimes(Math.min(waiting, arrivalsMs.length)));
  return Math.max(slotMs, estimateSlotMs(outer.queue, [...othersMs, ...arrivalsMs], conditions));
}

function queuedTimes(nodes: number): readonly number[] {
  return Array.from({ length: nodes }, () => -Infinity);
}

/** The rate of its zone when this node, and no other, becomes silent. */
function rateChange({ health, ratePerSecondIfSilent }: NodeReport, { now }: ClusterReport): RateChange {
  const atMs = Math.max(health?.silentFromMs ?? now.monotonicMs, now.monotonicMs);
  return { atMs, ratePerSecond: ratePerSecondIfSilent };
}

/**
 * Earliest time of an action: only the leader acts; none while watches are stale or in a full disruption; a hold has an
 * end.
 */
function estimateFreeAtMs(cluster: ClusterReport): number {
  const { leading, stale, fullDisruption, outageHold, emptying } = cluster;
  if (!leading || fullDisruption || stale !== undefined || emptying !== undefined) return Infinity;
  return Math.max(
    outageHold?.untilMs ?? -Infinity,
    estimatePauseEndMs(cluster),
    estimateBreakerEndMs(cluster),
    estimateMaintenanceEndMs(cluster),
  );
}

/** An open breaker and planned maintenance hold evictions for the health of the node only. */
function estimateHealthHoldMs(forHealth: boolean, cluster: ClusterReport): number {
  return forHealth ? Math.max(estimateBreakerEndMs(cluster), estimateMaintenanceEndMs(cluster)) : -Infinity;
}

/** While stale or in a full disruption no pod is evicted for the health of its node. */
function isEvictionHeld(forHealth: boolean, { leading, fullDisruption, stale }: ClusterReport): boolean {
  return !leading || ((fullDisruption || stale !== undefined) && forHealth);
}
