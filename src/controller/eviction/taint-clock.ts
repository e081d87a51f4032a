import type { NodeView } from '../../api/node.ts';
import { noExecuteTaints, type Taint } from '../../api/taints.ts';
import { parseTimestamp } from '../../api/timestamps.ts';
import type { RunningTaint } from './decide-eviction.ts';

/** `timeAdded` has whole seconds: a taint may be this much younger than it says, and no pod may go early. */
const timeAddedResolutionMs = 1_000;
/** A taint may seem this much older than its node, for who stamped them has another clock. Beyond that the stamp is absurd. */
const clockSkewMs = 60_000;

export type TaintedNode = Pick<NodeView, 'name' | 'taints' | 'createdAtMs'>;

export interface Now {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/**
 * Since when each node has carried each of its NoExecute taints, on our monotonic clock. A taint that we find counts from
 * its `timeAdded`, so that a restart does not start the countdown again; one from the future, or from before there was
 * such a node, counts from now. What was
 * found once does not move when the clock or the stamp does.
 */
export class TaintClock {
  readonly #taints = new Map<string, readonly RunningTaint[]>();

  get(node: string): readonly RunningTaint[] {
    return this.#taints.get(node) ?? [];
  }

  /** Takes notice of a node's taints. Says whether anything about them changed. */
  observe({ name, taints, createdAtMs }: TaintedNode, now: Now): boolean {
    const known = this.get(name);
    const running = noExecuteTaints(taints).map((taint) => {
      return { taint, sinceMs: sinceMs(taint, { known, createdAtMs }, now) };
    });
    if (sameTaints(known, running)) return false;
    if (running.length === 0) this.#taints.delete(name);
    else this.#taints.set(name, running);
    return true;
  }

  forget(node: string): void {
    this.#taints.delete(node);
  }
}

interface Background {
  readonly known: readonly RunningTaint[];
  readonly createdAtMs: number;
}

function sinceMs(taint: Taint, { known, createdAtMs }: Background, now: Now): number {
  const before = known.find((running) => running.taint.key === taint.key);
  if (before !== undefined) return before.sinceMs;
  const stampMs = parseTimestamp(taint.timeAdded);
  const addedAtMs = stampMs === undefined || stampMs < createdAtMs - clockSkewMs ? now.wallMs : stampMs;
  return now.monotonicMs - Math.max(0, now.wallMs - addedAtMs - timeAddedResolutionMs);
}

function sameTaints(a: readonly RunningTaint[], b: readonly RunningTaint[]): boolean {
  return a.length === b.length && a.every(({ taint }, place) => isSame(taint, b[place]?.taint));
}

function isSame(a: Taint, b: Taint | undefined): boolean {
  return b !== undefined && a.key === b.key && (a.value ?? '') === (b.value ?? '');
}
