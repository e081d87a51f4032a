// Predictions for nodes and pods. Times are on the monotonic clock; Infinity: not in the current state.
import { taintKeys } from '../../machinery/api/taints.ts';
import { type Toleration, tolerationFinder } from '../../machinery/api/tolerations.ts';
import type { Act } from '../model/holds.ts';
import type { EvictionMark } from '../model/node-state.ts';
import { estimateRemovalMs } from './build-holds.ts';
import { estimateSlotMs, type RateChange } from './estimate-slot.ts';
import { type Forecast, formatEstimate } from './format-time.ts';
import type { Estimate, EvictionOutlook, Given, NextAction } from './pages.ts';
import type { NodeReport } from './read-node.ts';
import type { ClusterReport, NodeEvictionReport, PodBrief, ZoneReport } from './reports.ts';

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

/** What holds acts for a node, be it missing. */
export interface HeldNode {
  readonly cluster: ClusterReport;
  /** See `readHeldUntilMs`. */
  heldUntilMs(...acts: readonly Act[]): number;
}

/** Prediction for a node, by mode; empty if this process does not run the node lifecycle controller. */
export function buildNodeForecast(report: NodeReport): NodeForecast {
  if (!report.cluster.runs.nodeLifecycle) return {};
  const { eviction } = report;
  return eviction === undefined
    ? { taint: buildTaintForecast(report) }
    : { eviction: buildNodeEvictionForecast(report, eviction) };
}

/** A node that no longer exists keeps its place in the queue, and its pods are deleted when it is served. */
export function buildLostNodeForecast(name: string, zone: ZoneReport, node: HeldNode): NodeForecast {
  const { now } = node.cluster;
  const atMs = estimateNodeSlotMs(name, zone, { atMs: now.monotonicMs, notBeforeMs: node.heldUntilMs('empty-node') });
  return { eviction: { mark: 'to-be-evicted', given: 'nothing-changes', due: null, atMs } };
}

/** Eviction of a pod: the scheduled one, or what the prediction for its node means for the pod. */
export function buildEvictionForecast(
  brief: PodBrief,
  { taint, eviction }: NodeForecast,
  node: HeldNode,
): EvictionForecast | undefined {
  const { pod, tolerations, wait, terminating, daemonSet, keeper } = brief;
  const timed = selectTimedEviction(brief);
  if (timed !== undefined) return buildScheduledForecast(brief, timed, node);
  // A policy that keeps it does so in every case that is left.
  if (terminating || keeper !== undefined) return undefined;
  if (eviction !== undefined) {
    const state = eviction.mark === 'evicted' ? 'scheduled' : 'predicted';
    const { given } = eviction;
    const atMs = Math.max(eviction.atMs, estimateRemovalMs(wait));
    return daemonSet === undefined ? { pod, state, cause: { kind: 'node-evicted' }, given, atMs } : undefined;
  }
  if (taint === undefined || !node.cluster.runs.taintEviction) return undefined;
  const { key, given, atMs } = taint;
  const { seconds } = toleranceOf(tolerationFinder(tolerations, 1)({ key, effect: 'NoExecute' }));
  if (seconds === Infinity) return undefined;
  const cause = { kind: 'taint', taint: key, toleratedSeconds: seconds } as const;
  return { pod, state: 'predicted', cause, given, atMs: atMs + seconds * 1_000 };
}

/** What keeps a pod since its last evaluation cancels an eviction for the health of its node. */
function selectTimedEviction({ timedEviction, keeper }: PodBrief): PodBrief['timedEviction'] {
  return timedEviction?.forHealth === true && keeper !== undefined ? undefined : timedEviction;
}

/** Eviction of a pod that is scheduled. */
export function buildScheduledForecast(
  { pod, wait }: Pick<PodBrief, 'pod' | 'wait'>,
  { taint, forHealth, toleratedSeconds, atMs: dueAtMs }: NonNullable<PodBrief['timedEviction']>,
  node: HeldNode,
): EvictionForecast {
  const heldUntilMs = node.heldUntilMs(forHealth ? 'delete-for-health' : 'delete-for-taint');
  const cause = { kind: 'taint', taint, toleratedSeconds } as const;
  const atMs = Math.max(dueAtMs, heldUntilMs, estimateRemovalMs(wait));
  return { pod, state: 'scheduled', cause, given: 'nothing-changes', atMs };
}

/**
 * How long a pod tolerates a taint (upstream `GetMatchingTolerations` and `getMinTolerationTime`, for one taint), by the first
 * matching toleration in the pod's order; undefined: none matches. 0 s: not tolerated. Infinity: without a time limit.
 */
export function toleranceOf(toleration: Toleration | undefined): {
  readonly toleration: Toleration | undefined;
  readonly seconds: number;
} {
  if (toleration === undefined) return { toleration, seconds: 0 };
  return { toleration, seconds: Math.max(0, toleration.tolerationSeconds ?? Infinity) };
}

/** Undefined where it has a NoExecute taint or there is no cause. */
function buildTaintForecast(report: NodeReport): NodeForecast['taint'] {
  const { name, zone, ready, heartbeat, taints } = report;
  const { monotonicMs } = report.now;
  if (taints.rationedKey !== undefined) {
    const notBeforeMs = report.heldUntilMs('add-no-execute');
    const atMs = estimateNodeSlotMs(name, zone, { atMs: monotonicMs, notBeforeMs });
    return { key: taints.rationedKey, given: 'nothing-changes', atMs };
  }
  if (heartbeat === undefined || ready === 'Unknown' || ready === 'False') return undefined;
  const change = rateChange(report);
  const notBeforeMs = report.heldUntilMs('mark-unknown', 'add-no-execute');
  const atMs = estimateNodeSlotMs(name, zone, { atMs: change.atMs, change, notBeforeMs });
  return { key: taintKeys.unreachable, given: 'no-heartbeat', atMs };
}

/** Assumes no further heartbeat. */
function buildNodeEvictionForecast(report: NodeReport, eviction: NodeEvictionReport): NodeForecast['eviction'] {
  const { mark, dueAtMs } = eviction;
  const { now } = report;
  if (mark === 'evicted') {
    const atMs = Math.max(now.monotonicMs, report.heldUntilMs('empty-node'));
    return { mark, given: 'nothing-changes', due: null, atMs };
  }
  // Ready=False lasts until the kubelet reports otherwise; silence ends with any heartbeat.
  const given = report.ready === 'False' ? 'nothing-changes' : 'no-heartbeat';
  const isTimed = mark === 'unmarked' && dueAtMs !== undefined;
  const isHeld = report.heldUntilMs('empty-node') === Infinity;
  const due = isTimed ? formatEstimate(isHeld ? Infinity : dueAtMs, now) : null;
  return { mark, given, due, atMs: evictionSlotMs(report, eviction) };
}

function evictionSlotMs(report: NodeReport, eviction: NodeEvictionReport): number {
  const { name, ready, zone, now } = report;
  const { mark, dueAtMs } = eviction;
  const becomesSilent = ready !== 'False' && ready !== 'Unknown';
  if (dueAtMs === undefined) return Infinity;
  const notBeforeMs = report.heldUntilMs(...(becomesSilent ? (['mark-unknown'] as const) : []), 'empty-node');
  const change = becomesSilent ? rateChange(report) : undefined;
  const beforeMs = notBeforeMs === Infinity || mark !== 'unmarked' ? [] : eviction.beforeMs;
  return estimateNodeSlotMs(name, zone, { atMs: Math.max(dueAtMs, now.monotonicMs), beforeMs, change, notBeforeMs });
}

/** How a node that is not queued yet will be queued. */
interface Joining {
  readonly atMs: number;
  /** When other nodes will be queued before it. */
  readonly beforeMs?: readonly number[];
  /** Effect of its own silence on the zone's rate. */
  readonly change?: RateChange | undefined;
  /** Nothing is served earlier. */
  readonly notBeforeMs: number;
}

/** Time at which a node is served in the queue of its zone: with a token of its zone and one of the outer zone. */
function estimateNodeSlotMs(
  node: string,
  zone: ZoneReport,
  { atMs, beforeMs = [], change, notBeforeMs }: Joining,
): number {
  const place = zone.placeOf(node);
  const queued = place === undefined ? zone.queue.nodes.length : place + 1;
  const arrivalsMs = place === undefined ? [...beforeMs, atMs] : [];
  const conditions = { notBeforeMs, change: place === undefined ? change : undefined };
  const slotMs = estimateSlotMs(zone.queue, { queued, arrivalsMs }, conditions);
  if (zone.outer === undefined) return slotMs;
  // Its zones take its tokens one after the other.
  const own = queued + arrivalsMs.length;
  const others = zone.competing.reduce((sum, waiting) => sum + Math.min(waiting, own), 0);
  return Math.max(slotMs, estimateSlotMs(zone.outer.queue, { queued: others + queued, arrivalsMs }, conditions));
}

/** The rate of its zone when this node, and no other, becomes silent. */
function rateChange({ heartbeat, ratePerSecondIfSilent, now }: NodeReport): RateChange {
  const atMs = Math.max(heartbeat?.silentFromMs ?? now.monotonicMs, now.monotonicMs);
  return { atMs, ratePerSecond: ratePerSecondIfSilent };
}
