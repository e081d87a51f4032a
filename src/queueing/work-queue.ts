import { Backoff, type BackoffLimits } from './backoff.ts';
import { KeyedHeap } from './keyed-heap.ts';

/** What to do with a key after it was worked on. */
export type Outcome =
  | { readonly next: 'forget' }
  | { readonly next: 'look-again'; readonly afterMs: number }
  | { readonly next: 'back-off'; readonly atLeastMs?: number | undefined };

export const forget: Outcome = { next: 'forget' };

/** Longer each time, and at least as long as somebody asked for. */
export function backOffAtLeast(atLeastMs: number | undefined): Outcome {
  return { next: 'back-off', atLeastMs };
}

/**
 * Keys that want to be looked at. A key waits once, however often it is added; a key that is being worked on is never
 * taken a second time, and what was added meanwhile is not lost; a failed key waits longer each time and is never dropped.
 * Passive: time is an argument (client-go `workqueue`, delaying and rate-limited, in one).
 */
export class WorkQueue {
  readonly #waiting = new KeyedHeap();
  readonly #working = new Set<string>();
  /** When each is to be looked at again. */
  readonly #addedMeanwhile = new Map<string, number>();
  readonly #backoff: Backoff;

  constructor(limits: BackoffLimits) {
    this.#backoff = new Backoff(limits);
  }

  /** Keys that wait, due or not. */
  get size(): number {
    return this.#waiting.size + this.#addedMeanwhile.size;
  }

  get idle(): boolean {
    return this.size === 0 && this.#working.size === 0;
  }

  has(key: string): boolean {
    return this.#waiting.has(key) || this.#working.has(key);
  }

  /** To be looked at from `dueMs` on. Of two times for one key the earlier wins. False if the key waited already. */
  add(key: string, dueMs: number): boolean {
    if (this.#working.has(key)) return this.#addMeanwhile(key, dueMs);
    const known = this.#waiting.dueMs(key);
    if (known === undefined || dueMs < known) this.#waiting.set(key, dueMs);
    return known === undefined;
  }

  #addMeanwhile(key: string, dueMs: number): boolean {
    const known = this.#addedMeanwhile.get(key);
    this.#addedMeanwhile.set(key, Math.min(dueMs, known ?? Infinity));
    return known === undefined;
  }

  /** Keys that are due and that nobody works on. */
  countDue(nowMs: number): number {
    return this.#waiting.countDue(nowMs);
  }

  /** The next key that is due, now marked as being worked on: `done` must follow. */
  take(nowMs: number): string | undefined {
    const key = this.#waiting.popDue(nowMs);
    if (key !== undefined) this.#working.add(key);
    return key;
  }

  done(key: string, outcome: Outcome, nowMs: number): void {
    this.#working.delete(key);
    const waitMs = this.#waitMs(key, outcome);
    if (waitMs !== undefined) this.add(key, nowMs + waitMs);
    // What was added while we worked may have changed the answer: look again when it asks to, even before a back-off ends.
    const againMs = this.#addedMeanwhile.get(key);
    this.#addedMeanwhile.delete(key);
    if (againMs !== undefined) this.add(key, againMs);
  }

  /** Drops a key that nobody wants any more; says whether it waited. One that is being worked on ends as usual. */
  remove(key: string): boolean {
    const waited = this.#waiting.remove(key);
    this.#backoff.forget(key);
    return this.#addedMeanwhile.delete(key) || waited;
  }

  nextDueMs(): number | undefined {
    return this.#waiting.peek()?.dueMs;
  }

  #waitMs(key: string, outcome: Outcome): number | undefined {
    switch (outcome.next) {
      case 'forget':
        this.#backoff.forget(key);
        return undefined;
      case 'look-again':
        this.#backoff.forget(key);
        return outcome.afterMs;
      case 'back-off':
        return Math.max(this.#backoff.nextMs(key), outcome.atLeastMs ?? 0);
    }
  }
}
