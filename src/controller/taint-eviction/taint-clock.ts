import type { NodeView } from '../../machinery/api/node.ts';
import { noExecuteTaints, type Taint } from '../../machinery/api/taints.ts';
import { clockSkewMs, parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { RunningTaint } from './decide-eviction.ts';
import type { Now } from '../model/node-state.ts';
import { boundAtMs, type PodView } from '../../machinery/api/pod.ts';
import type { Change } from '../../machinery/informer/informer.ts';

type TaintedNode = Pick<NodeView, 'name' | 'taints' | 'createdAtMs'>;

/**
 * Source of an observed state of a node or pod. `watch-event`: what differs from the previous state is new. `cache`: it
 * may have existed before, as at the start.
 */
export type ChangeSource = 'watch-event' | 'cache';

/**
 * API timestamps have whole seconds: the event may have happened up to this much later, and no pod may be evicted
 * early.
 */
const stampResolutionMs = 1_000;

/**
 * The start of the countdown of each NoExecute taint of each node, on the monotonic clock. A taint that arrives by a
 * watch event counts from then, whatever its `timeAdded`: late by the delay of the watch, and never early. One that is
 * found on an unknown node counts from its `timeAdded`, so that a restart does not restart the countdown; a time in the
 * future, or before the creation of the node, counts as now. A start does not move when the clock changes, and only by a
 * later `timeAdded`: then the taint was removed and added again, and is another one.
 */
export class TaintClock {
  /** Taints of every known node; most are empty. */
  readonly #taints = new Map<string, readonly RunningTaint[]>();

  get(node: string): readonly RunningTaint[] {
    return this.#taints.get(node) ?? none;
  }

  /** Updates the taints of a node. Returns whether anything about them changed. */
  observe(node: TaintedNode, source: ChangeSource, now: Now): boolean {
    const known = this.#taints.get(node.name);
    const before = new Map(known?.map((running) => [running.taint.key, running]));
    const startOf = (taint: Taint): number => countFromStamp(stampOf(taint, node, now), now);
    const running = noExecuteTaints(node.taints).map((taint): RunningTaint => {
      const earlier = before.get(taint.key);
      if (earlier === undefined) {
        const fromStamp = known === undefined && source === 'cache';
        return { taint, sinceMs: fromStamp ? startOf(taint) : now.monotonicMs };
      }
      if (!isLater(taint, earlier.taint)) return { ...earlier, taint };
      const sinceMs = source === 'watch-event' ? now.monotonicMs : Math.max(earlier.sinceMs, startOf(taint));
      return { taint, sinceMs, isRestarted: true };
    });
    if (known !== undefined && sameTaints(known, running)) return false;
    this.#taints.set(node.name, running.length === 0 ? none : running);
    return known !== undefined || running.length > 0;
  }

  forget(node: string): void {
    this.#taints.delete(node);
  }

  get size(): number {
    return this.#taints.size;
  }

  /** The names of all known nodes. */
  nodes(): Iterable<string> {
    return this.#taints.keys();
  }
}

const none: readonly RunningTaint[] = [];

/** Wall time. A taint may appear a little older than its node; a time long before its node is not used. */
function stampOf({ timeAdded }: Taint, { createdAtMs }: TaintedNode, { wallMs }: Now): number {
  const stampMs = parseTimestamp(timeAdded);
  return stampMs === undefined || stampMs < createdAtMs - clockSkewMs ? wallMs : stampMs;
}

function sameTaints(a: readonly RunningTaint[], b: readonly RunningTaint[]): boolean {
  return a.length === b.length && a.every(({ taint }, place) => isSame(taint, b[place]?.taint));
}

function isSame(a: Taint, b: Taint | undefined): boolean {
  return b !== undefined && a.key === b.key && (a.value ?? '') === (b.value ?? '') && !isLater(b, a);
}

/** Whether a taint was added later than another one of the same key. */
function isLater({ timeAdded }: Taint, { timeAdded: before }: Taint): boolean {
  if (timeAdded === before) return false;
  const [atMs, beforeMs] = [parseTimestamp(timeAdded), parseTimestamp(before)];
  return atMs !== undefined && beforeMs !== undefined && atMs > beforeMs;
}

/** Converts a wall time to the monotonic clock. A wall time in the future counts as now. */
function countFromStamp(stampMs: number, { monotonicMs, wallMs }: Now): number {
  return monotonicMs - Math.max(0, wallMs - stampMs - stampResolutionMs);
}

/** Whether a change shows a pod that was not bound to this node before. */
export function isBinding(change: Exclude<Change<PodView>, { kind: 'deleted' }>): boolean {
  if (change.kind === 'added') return true;
  const { previous, object } = change;
  return previous.uid !== object.uid || previous.nodeName !== object.nodeName;
}

/**
 * When a pod was bound, on the monotonic clock. A binding that arrives by a watch event counts from then; otherwise the
 * times of the pod count, and without them the current time.
 */
export function boundSinceMs(pod: PodView, source: ChangeSource, now: Now): number {
  const stampMs = source === 'cache' ? boundAtMs(pod) : undefined;
  return stampMs === undefined ? now.monotonicMs : countFromStamp(stampMs, now);
}
