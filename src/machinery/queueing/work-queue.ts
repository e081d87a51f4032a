import { Backoff, type BackoffLimits, retryLimits } from './backoff.ts';
import { KeyedHeap } from './keyed-heap.ts';

/**
 * Outcome of processing a key: what happens to the key next. Only `forget` resets its failures: a key that is queued again at a
 * time, or parked, waits for something, and its next failure backs off as if it had not waited.
 */
export type WorkOutcome =
  | { readonly next: 'forget' }
  /** Waits for an addition; to be removed when that will not come. */
  | { readonly next: 'park' }
  | { readonly next: 'requeue'; readonly afterMs: number }
  /** `isConflict`: the object was changed meanwhile, and is to be evaluated again. These are counted apart: whatever failed before, the first is soon. */
  | { readonly next: 'backoff'; readonly atLeastMs?: number | undefined; readonly isConflict?: boolean };

export const forget: WorkOutcome = { next: 'forget' };
export const park: WorkOutcome = { next: 'park' };

/** Exponential backoff, with a minimum delay. */
export function backOffAtLeast(atLeastMs: number | undefined): WorkOutcome {
  return { next: 'backoff', atLeastMs };
}

/**
 * A queue of keys to reconcile. A key is queued once, however often it is added; a key in process is never taken a second
 * time, and an addition meanwhile is not lost; a failed key is retried with exponential backoff and never dropped.
 * Passive: time is an argument (client-go `workqueue`, delaying and rate-limiting, in one).
 */
export class WorkQueue {
  readonly #waiting = new KeyedHeap();
  readonly #inProcess = new Set<string>();
  /** Due times of keys that were added while in process. */
  readonly #addedMeanwhile = new Map<string, number>();
  readonly #backoff: Backoff;
  readonly #conflicts: Backoff;
  /** Keys with a delay that a server requested (Retry-After): no addition makes them due earlier. */
  readonly #notBefore = new Map<string, number>();

  constructor(limits: BackoffLimits = retryLimits) {
    this.#backoff = new Backoff(limits);
    this.#conflicts = new Backoff(limits);
  }

  /** Queued keys, due or not. */
  get size(): number {
    return this.#waiting.size + this.#addedMeanwhile.size;
  }

  /** Number of keys that anything is known of: queued, in process, or with a backoff. */
  get remembered(): number {
    const failed = Math.max(this.#backoff.size, this.#conflicts.size);
    return Math.max(this.#waiting.size + this.#inProcess.size, this.#notBefore.size, failed);
  }

  get idle(): boolean {
    return this.size === 0 && this.#inProcess.size === 0;
  }

  has(key: string): boolean {
    return this.#waiting.has(key) || this.#inProcess.has(key);
  }

  /**
   * Queues the key, due at `dueMs`. Of two times for one key the earlier wins, but not over a delay that a server
   * requested. False if the key was queued already.
   */
  add(key: string, dueMs: number): boolean {
    if (this.#inProcess.has(key)) return this.#addMeanwhile(key, dueMs);
    const known = this.#waiting.dueMs(key);
    const wantedMs = Math.max(dueMs, this.#notBefore.get(key) ?? dueMs);
    if (known === undefined || wantedMs < known) this.#waiting.set(key, wantedMs);
    return known === undefined;
  }

  #addMeanwhile(key: string, dueMs: number): boolean {
    const known = this.#addedMeanwhile.get(key);
    this.#addedMeanwhile.set(key, Math.min(dueMs, known ?? Infinity));
    return known === undefined;
  }

  /** Number of due keys that are not in process. */
  countDue(nowMs: number): number {
    return this.#waiting.countDue(nowMs);
  }

  /** The next due key, now in process: `done` must follow. */
  take(nowMs: number): string | undefined {
    const key = this.#waiting.popDue(nowMs);
    if (key !== undefined) this.#inProcess.add(key);
    if (key !== undefined) this.#notBefore.delete(key);
    return key;
  }

  done(key: string, outcome: WorkOutcome, nowMs: number): void {
    this.#inProcess.delete(key);
    const waitMs = this.#waitMs(key, outcome);
    const requestedMs = outcome.next === 'backoff' ? (outcome.atLeastMs ?? 0) : 0;
    if (requestedMs > 0) this.#notBefore.set(key, nowMs + requestedMs);
    if (waitMs !== undefined) this.add(key, nowMs + waitMs);
    // An addition meanwhile may have changed the result: process it again when due, even before a backoff ends.
    const addedMs = this.#addedMeanwhile.get(key);
    this.#addedMeanwhile.delete(key);
    if (addedMs !== undefined) this.add(key, addedMs);
  }

  /** Drops a key; returns whether it was queued. A key in process ends normally. */
  remove(key: string): boolean {
    const waited = this.#waiting.remove(key);
    this.#notBefore.delete(key);
    this.#forgetFailures(key);
    return this.#addedMeanwhile.delete(key) || waited;
  }

  nextDueMs(): number | undefined {
    return this.#waiting.peek()?.dueMs;
  }

  #waitMs(key: string, outcome: WorkOutcome): number | undefined {
    switch (outcome.next) {
      case 'forget':
        this.#forgetFailures(key);
        return undefined;
      case 'park':
        return undefined;
      case 'requeue':
        return outcome.afterMs;
      case 'backoff':
        return Math.max(
          (outcome.isConflict === true ? this.#conflicts : this.#backoff).nextMs(key),
          outcome.atLeastMs ?? 0,
        );
    }
  }

  #forgetFailures(key: string): void {
    this.#backoff.forget(key);
    this.#conflicts.forget(key);
  }
}
