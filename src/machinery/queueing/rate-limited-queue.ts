import { Backoff, retryLimits } from './backoff.ts';
import { KeyedHeap } from './keyed-heap.ts';
import type { TokenBucket } from './token-bucket.ts';

/** One nanosecond: a retry is due after its wait, not at its end, as in kube-controller-manager. */
const nanosecondMs = 1e-6;

interface QueueEntry {
  /** First come, first served: a postponed key keeps its position. */
  readonly position: number;
  sinceMs: number;
}

/**
 * Keys that wait for an action that is limited by a token bucket. A token is taken only for an action: the head must be
 * due and still wanted before one is taken. All times are milliseconds of one monotonic clock.
 */
export class RateLimitedQueue {
  /** In insertion order. */
  readonly #entries = new Map<string, QueueEntry>();
  /** Due keys, by position. */
  readonly #due = new KeyedHeap();
  /** Postponed keys, by the end of their wait. Keys whose action is in progress are in neither heap. */
  readonly #postponed = new KeyedHeap();
  readonly #backoff = new Backoff(retryLimits);
  /** Outlives the queue, see RateLimitedQueues. */
  readonly bucket: TokenBucket;
  /** The own bucket, and that of the outer zone: an action takes a token of each. */
  readonly #buckets: readonly TokenBucket[];
  readonly #onEarlier: () => void;
  #nextPosition = 0;
  #grantedAtMs = -Infinity;

  /**
   * `onEarlier` is called when {@link nextDueMs} may have decreased. `outer`: a bucket that other queues use too, and that has to
   * grant each action as well.
   */
  constructor(bucket: TokenBucket, onEarlier: () => void = () => undefined, outer?: TokenBucket) {
    this.bucket = bucket;
    this.#buckets = outer === undefined ? [bucket] : [bucket, outer];
    this.#onEarlier = onEarlier;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** At most so many actions per second; 0: stopped by one of its buckets. */
  get ratePerSecond(): number {
    return Math.min(...this.#buckets.map(({ ratePerSecond }) => ratePerSecond));
  }

  /** When the last token was taken; -Infinity: never. */
  get grantedAtMs(): number {
    return this.#grantedAtMs;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** False if the key is queued already: it keeps its position. */
  add(key: string, nowMs: number): boolean {
    if (this.#entries.has(key)) return false;
    const entry = { position: this.#nextPosition++, sinceMs: nowMs };
    this.#entries.set(key, entry);
    this.#due.set(key, entry.position);
    this.#onEarlier();
    return true;
  }

  remove(key: string): boolean {
    this.#backoff.forget(key);
    this.#due.remove(key);
    this.#postponed.remove(key);
    return this.#entries.delete(key);
  }

  clear(): void {
    for (const key of this.keysInOrder()) this.remove(key);
  }

  /** Since when the key waits that has waited for the longest time; undefined if the queue is empty. */
  oldestSinceMs(): number | undefined {
    let oldest: number | undefined;
    for (const { sinceMs } of this.#entries.values()) oldest = Math.min(oldest ?? sinceMs, sinceMs);
    return oldest;
  }

  /** The key has not waited until now: it was not to be served. It keeps its position. */
  waitsFrom(key: string, nowMs: number): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.sinceMs = nowMs;
  }

  /** All keys in the order of their positions, including postponed keys and keys in progress. */
  keysInOrder(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** The first due key. It stays in the queue. */
  peekDue(nowMs: number): string | undefined {
    for (let key = this.#postponed.popDue(nowMs); key !== undefined; key = this.#postponed.popDue(nowMs)) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) this.#due.set(key, entry.position);
    }
    return this.#due.peek()?.key;
  }

  /** The action for this key is in progress: it keeps its position and is not due until {@link postpone} or {@link retry}. */
  begin(key: string): void {
    this.#due.remove(key);
    this.#postponed.remove(key);
  }

  /** Keeps the position; due after that time. A key that was removed meanwhile stays removed. */
  postpone(key: string, dueMs: number): void {
    if (!this.#entries.has(key)) return;
    this.#due.remove(key);
    this.#postponed.set(key, dueMs + nanosecondMs);
    this.#onEarlier();
  }

  /** Number of failures of the action for this key. */
  failures(key: string): number {
    return this.#backoff.failures(key);
  }

  /** The action failed: the key keeps its position and is due after a backoff, 100 ms to 30 s. */
  retry(key: string, nowMs: number, atLeastMs = 0): void {
    if (!this.#entries.has(key)) return;
    this.postpone(key, nowMs + Math.max(this.#backoff.nextMs(key), atLeastMs));
  }

  /** The first time at which a key is due and a token is available; Infinity if that needs another call first. */
  nextDueMs(nowMs: number): number {
    const dueMs = this.peekDue(nowMs) === undefined ? this.#postponed.peek()?.dueMs : nowMs;
    return dueMs === undefined ? Infinity : Math.max(dueMs, this.nextTokenAtMs(nowMs));
  }

  /** Takes a token of each bucket, or none. */
  tryTakeToken(nowMs: number): boolean {
    if (!this.#buckets.every((bucket) => bucket.canTake(nowMs))) return false;
    for (const bucket of this.#buckets) bucket.tryTake(nowMs);
    this.#grantedAtMs = nowMs;
    return true;
  }

  tokens(nowMs: number): number {
    return Math.min(...this.#buckets.map((bucket) => bucket.available(nowMs)));
  }

  nextTokenAtMs(nowMs: number): number {
    return Math.max(...this.#buckets.map((bucket) => bucket.nextAtMs(nowMs)));
  }

  /** Changes the rate of the own bucket, as does {@link resize}. */
  swapRate(ratePerSecond: number, nowMs: number): void {
    this.bucket.swapRate(ratePerSecond, nowMs);
    this.#onEarlier();
  }

  resize(ratePerSecond: number, burst: number, nowMs: number): void {
    this.bucket.resize(ratePerSecond, burst, nowMs);
  }

  /** Spends the tokens of an action that another process took at that time. */
  restoreSpent(spentAtMs: number, nowMs: number): void {
    for (const bucket of this.#buckets) bucket.restoreSpent(spentAtMs, nowMs);
  }

  /** The action for which a token was taken at that time certainly did not happen. */
  returnToken(nowMs: number, takenAtMs = nowMs): void {
    for (const bucket of this.#buckets) bucket.returnToken(nowMs, takenAtMs);
    this.#onEarlier();
  }
}
