// Decides when a pod must be evicted. Each taint has its own countdown, the tolerated time. The earliest end counts.
// While the taint that set a deadline exists, the deadline only moves to an earlier time.
import type { PodView } from '../../machinery/api/pod.ts';
import { isForHealth, isHealthTaint, type Taint } from '../../machinery/api/taints.ts';
import { type Toleration, tolerationFinder } from '../../machinery/api/tolerations.ts';
import type { StayReason } from '../model/decisions.ts';

/** A NoExecute taint and the start of its countdown, on the monotonic clock. */
export interface RunningTaint {
  readonly taint: Taint;
  readonly sinceMs: number;
  /**
   * The taint was removed and added again, which only its later `timeAdded` shows: a deadline of before is not one of
   * this taint.
   */
  readonly isRestarted?: boolean;
}

/** When a pod is to be deleted and why. */
export interface EvictAt {
  readonly kind: 'evict';
  /** Time of the eviction on the monotonic clock. */
  readonly atMs: number;
  /** The taint whose countdown ends first, and the tolerated time; 0: not tolerated. */
  readonly taint: string;
  /** Whether the eviction is for the health of the node, as of {@link isForHealth}. */
  readonly forHealth: boolean;
  readonly toleratedSeconds: number;
  /** When the countdown of that taint started for the pod, on the monotonic clock. */
  readonly sinceMs: number;
}

type EvictionDecision = { readonly kind: 'stay'; readonly why: StayReason } | EvictAt;

/** Input for a decision about a pod, besides the pod. */
interface PodEvidence {
  /** The NoExecute taints of its node. */
  readonly taints: readonly RunningTaint[];
  /** Time at which the pod was bound to its node, on the monotonic clock: no countdown starts earlier. */
  readonly boundMs: number;
  /** The current deadline of the pod. */
  readonly earlier?: EvictAt | undefined;
  /** A policy keeps the pod from evictions for the health of its node. Absent: none does. */
  readonly isRetained?: boolean;
}

/**
 * The eviction of a pod by the taints of its node (upstream `processPodOnNode`; separate countdowns: decision 0006).
 */
export function decideEviction(
  pod: Pick<PodView, 'tolerations' | 'terminating'>,
  { taints: all, boundMs, earlier, isRetained = false }: PodEvidence,
): EvictionDecision {
  if (all.length === 0) return { kind: 'stay', why: 'taint-gone' };
  if (pod.terminating) return { kind: 'stay', why: 'already-terminating' };
  const taints = selectCounting(all, isRetained);
  if (taints.length === 0) return { kind: 'stay', why: 'kept-by-policy' };
  const find = tolerationFinder(pod.tolerations, taints.length);
  const ends = taints.flatMap(({ taint, sinceMs }) => {
    return endOfToleration(find(taint), { taint, sinceMs: Math.max(sinceMs, boundMs) }) ?? [];
  });
  const [first, ...others] = ends;
  if (first === undefined) return { kind: 'stay', why: 'tolerates-forever' };
  const earliest = others.reduce((soonest, end) => (end.atMs < soonest.atMs ? end : soonest), first);
  if (earlier === undefined || earlier.atMs > earliest.atMs) return earliest;
  return isStillCaused(earlier, ends) && !isRestarted(earlier, taints) ? earlier : earliest;
}

/** The taints that count for a pod: for one that a policy keeps, none that evicts for the health of the node. */
export function selectCounting(taints: readonly RunningTaint[], isRetained: boolean): readonly RunningTaint[] {
  return isRetained ? taints.filter(({ taint }) => !isForHealth(taint)) : taints;
}

/** A toleration without seconds has no end. */
function endOfToleration(
  toleration: Toleration | undefined,
  { taint, sinceMs }: Pick<RunningTaint, 'taint' | 'sinceMs'>,
): EvictAt | undefined {
  const cause = { taint: taint.key, forHealth: isForHealth(taint), sinceMs };
  if (toleration === undefined) return { kind: 'evict', atMs: sinceMs, ...cause, toleratedSeconds: 0 };
  if (typeof toleration.tolerationSeconds !== 'number') return undefined;
  const toleratedSeconds = Math.max(0, toleration.tolerationSeconds);
  return { kind: 'evict', atMs: sinceMs + toleratedSeconds * 1_000, ...cause, toleratedSeconds };
}

function isRestarted({ taint: key, sinceMs }: EvictAt, taints: readonly RunningTaint[]): boolean {
  return taints.some((running) => {
    return running.isRestarted === true && keepsDeadlineOf(running.taint.key, key) && running.sinceMs > sinceMs;
  });
}

/** Whether the taint that set this deadline still ends for the pod. */
function isStillCaused({ taint }: EvictAt, ends: readonly EvictAt[]): boolean {
  return ends.some((end) => keepsDeadlineOf(end.taint, taint));
}

/** One health taint replaces the other, so either of them keeps the deadline of both (decision 0042). */
function keepsDeadlineOf(key: string, earlier: string): boolean {
  return key === earlier || [key, earlier].every((each) => isHealthTaint({ key: each }));
}
