import { noExecuteTaints, type Taint } from '../../api/taints.ts';
import { parseTimestamp } from '../../api/timestamps.ts';
import type { RunningTaint } from './decide-eviction.ts';

/** `timeAdded` has whole seconds: a taint may be this much younger than it says, and no pod may go early. */
const timeAddedResolutionMs = 1_000;

export interface Now {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/**
 * Since when each node has carried each of its NoExecute taints, on our monotonic clock. A taint that we find counts from
 * its `timeAdded`, so that a restart does not start the countdown again; one from the future counts from now. What was
 * found once does not move when the clock or the stamp does.
 */
export class TaintClock {
  readonly #taints = new Map<string, readonly RunningTaint[]>();

  get(node: string): readonly RunningTaint[] {
    return this.#taints.get(node) ?? [];
  }

  /** Takes notice of a node's taints. Says whether anything about them changed. */
  observe(node: string, taints: readonly Taint[], now: Now): boolean {
    const known = this.get(node);
    const running = noExecuteTaints(taints).map((taint) => ({ taint, sinceMs: sinceMs(taint, known, now) }));
    if (sameTaints(known, running)) return false;
    if (running.length === 0) this.#taints.delete(node);
    else this.#taints.set(node, running);
    return true;
  }

  forget(node: string): void {
    this.#taints.delete(node);
  }
}

function sinceMs(taint: Taint, known: readonly RunningTaint[], now: Now): number {
  const before = known.find((running) => running.taint.key === taint.key);
  if (before !== undefined) return before.sinceMs;
  const addedAtMs = parseTimestamp(taint.timeAdded) ?? now.wallMs;
  return now.monotonicMs - Math.max(0, now.wallMs - addedAtMs - timeAddedResolutionMs);
}

function sameTaints(a: readonly RunningTaint[], b: readonly RunningTaint[]): boolean {
  return a.length === b.length && a.every(({ taint }, place) => isSame(taint, b[place]?.taint));
}

function isSame(a: Taint, b: Taint | undefined): boolean {
  return b !== undefined && a.key === b.key && (a.value ?? '') === (b.value ?? '');
}
