import { KeyedHeap } from './keyed-heap.ts';
import type { TokenBucket } from './token-bucket.ts';

/** As the reference: a retry is due after its wait, not at its end. */
const nanosecondMs = 1e-6;

/**
 * Keys in line for an act that is rationed by a token bucket. A token is spent on an act only: the head must be due, and
 * whoever asks must still want it, before one is taken.
 */
export class RateLimitedQueue {
  readonly #heap = new KeyedHeap();
  /** Since when each key is in line, first come first; a retry that is postponed does not change it. */
  readonly #sinceMs = new Map<string, number>();
  readonly #bucket: TokenBucket;

  constructor(bucket: TokenBucket) {
    this.#bucket = bucket;
  }

  get size(): number {
    return this.#heap.size;
  }

  get ratePerSecond(): number {
    return this.#bucket.ratePerSecond;
  }

  has(key: string): boolean {
    return this.#heap.has(key);
  }

  /** False if the key is in line already: it keeps its place. */
  add(key: string, nowMs: number): boolean {
    if (this.#heap.has(key)) return false;
    this.#heap.set(key, nowMs);
    this.#sinceMs.set(key, nowMs);
    return true;
  }

  remove(key: string): boolean {
    this.#sinceMs.delete(key);
    return this.#heap.remove(key);
  }

  clear(): void {
    this.#heap.clear();
    this.#sinceMs.clear();
  }

  /** When whoever has waited longest got in line; undefined when nobody waits. */
  oldestSinceMs(): number | undefined {
    for (const sinceMs of this.#sinceMs.values()) return sinceMs;
    return undefined;
  }

  keysInOrder(): readonly string[] {
    return this.#heap.keysInOrder();
  }

  /** The head, if it is due. It stays in line. */
  peekDue(nowMs: number): string | undefined {
    const head = this.#heap.peek();
    return head !== undefined && head.dueMs <= nowMs ? head.key : undefined;
  }

  tryTakeToken(nowMs: number): boolean {
    return this.#bucket.tryTake(nowMs);
  }

  tokens(nowMs: number): number {
    return this.#bucket.available(nowMs);
  }

  nextTokenAtMs(nowMs: number): number {
    return this.#bucket.nextAtMs(nowMs);
  }

  swapRate(ratePerSecond: number, nowMs: number): void {
    this.#bucket.swapRate(ratePerSecond, nowMs);
  }

  resize(ratePerSecond: number, burst: number, nowMs: number): void {
    this.#bucket.resize(ratePerSecond, burst, nowMs);
  }

  /** Somebody before us did such an act then. */
  recall(spentAtMs: number, nowMs: number): void {
    this.#bucket.recall(spentAtMs, nowMs);
  }

  /** The act the token was taken for did certainly not happen. */
  giveTokenBack(nowMs: number): void {
    this.#bucket.giveBack(nowMs);
  }

  /** Waits in line until that moment is over. A key that was removed meanwhile stays removed. */
  postpone(key: string, dueMs: number): void {
    if (this.#heap.has(key)) this.#heap.set(key, dueMs + nanosecondMs);
  }
}
