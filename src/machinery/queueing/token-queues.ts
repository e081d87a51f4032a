import { RateLimitedQueue } from './rate-limited-queue.ts';
import { TokenBucket } from './token-bucket.ts';

/** A queue, and the rate of its tokens as it is now. */
interface TokenRate {
  readonly queue: string;
  readonly ratePerSecond: number;
}

/** Answer to a key that needs a token. `wait`: it is to try again after this time at the latest. */
export type TokenAnswer =
  | { readonly kind: 'granted'; readonly returnToken: () => void }
  | { readonly kind: 'wait'; readonly ms: number };

/** A key that waits for a token. */
export interface TokenWait {
  readonly queue: string;
  /** Number of keys that wait before it. */
  readonly ahead: number;
  /** When the next token is there, which the first key gets; monotonic. */
  readonly nextTokenAtMs: number;
}

interface TokenQueuesOptions {
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Called when this key is the first one in its queue, and there is a token after this time: it is to try then. */
  readonly onFirst: (key: string, afterMs: number) => void;
  /** True if a key that has to wait will try again. One that will not loses its place. */
  readonly willTry: (key: string) => boolean;
}

/** Time after which a key that waits tries again whatever happens. */
const retryMs = 5_000;

/**
 * Keys that wait for a token before they act, in queues with a token bucket each: first come, first served. A key takes a token
 * only at the moment at which it can act; one that cannot act backs off, and keeps its place. Time is an argument.
 */
export class TokenQueues {
  readonly #options: TokenQueuesOptions;
  readonly #queues = new Map<string, RateLimitedQueue>();
  readonly #queueOf = new Map<string, string>();
  /** Keys that wait for a token. Others in a queue have backed off. */
  readonly #waiting = new Set<string>();

  constructor(options: TokenQueuesOptions) {
    this.#options = options;
  }

  /**
   * Takes a token for a key that can act now. It is spent, unless it is returned because nothing was done. In both cases the key
   * is at the end if it tries again, so that one that fails each time delays others by one token only.
   */
  tryTake(key: string, { queue: name, ratePerSecond }: TokenRate): TokenAnswer {
    const nowMs = this.#options.nowMs();
    const queue = this.#enter(key, name, ratePerSecond);
    const first = this.#firstOf(queue, key);
    if (first !== key || !queue.tryTakeToken(nowMs)) {
      this.#waiting.add(key);
      const ownMs = first === key ? queue.nextTokenAtMs(nowMs) - nowMs : retryMs;
      return { kind: 'wait', ms: Math.min(ownMs, retryMs) };
    }
    this.leave(key);
    return { kind: 'granted', returnToken: () => this.#returnToken(queue, nowMs) };
  }

  /** Marks a key that cannot act now. It keeps its place, and others are served before it until it tries again. */
  backOff(key: string): void {
    const queue = this.#find(key);
    if (queue === undefined) return;
    this.#waiting.delete(key);
    queue.begin(key);
    this.#callFirst(queue);
  }

  leave(key: string): void {
    const queue = this.#find(key);
    if (queue === undefined) return;
    this.#waiting.delete(key);
    this.#queueOf.delete(key);
    queue.remove(key);
    this.#callFirst(queue);
  }

  /** The keys that wait for a token, in the order of their queue. */
  waitingIn(name: string): readonly string[] {
    return (this.#queues.get(name)?.keysInOrder() ?? []).filter((key) => this.#waiting.has(key));
  }

  /** The queue in which this key waits for a token; undefined if it does not wait. */
  queueOf(key: string): string | undefined {
    return this.#waiting.has(key) ? this.#queueOf.get(key) : undefined;
  }

  /** The keys that wait for a token, of all queues. */
  waiting(): Iterable<string> {
    return this.#waiting.keys();
  }

  /** Undefined: the key does not wait for a token. */
  waitOf(key: string): TokenWait | undefined {
    const name = this.queueOf(key);
    if (name === undefined) return undefined;
    const nowMs = this.#options.nowMs();
    const nextTokenAtMs = this.#queues.get(name)?.nextTokenAtMs(nowMs) ?? nowMs;
    return { queue: name, ahead: this.waitingIn(name).indexOf(key), nextTokenAtMs };
  }

  /** All keys in queues. */
  keys(): Iterable<string> {
    return this.#queueOf.keys();
  }

  /** Number of keys in queues. */
  get size(): number {
    return this.#queueOf.size;
  }

  #find(key: string): RateLimitedQueue | undefined {
    return this.#queues.get(this.#queueOf.get(key) ?? '');
  }

  /** The key is due in the queue of this name, at the place that it has or at the end. */
  #enter(key: string, name: string, ratePerSecond: number): RateLimitedQueue {
    const nowMs = this.#options.nowMs();
    if (this.#queueOf.get(key) !== name) this.leave(key);
    const burst = Math.max(1, ratePerSecond);
    const queue = this.#queues.get(name) ?? this.#open(name, new TokenBucket(ratePerSecond, burst, nowMs));
    queue.resize(ratePerSecond, burst, nowMs);
    this.#queueOf.set(key, name);
    // A past time, so that it is due now.
    if (!queue.add(key, nowMs)) queue.postpone(key, nowMs - 1);
    return queue;
  }

  /** Drops queues without keys and with a full bucket: they are like new ones. */
  #open(name: string, bucket: TokenBucket): RateLimitedQueue {
    const nowMs = this.#options.nowMs();
    for (const [other, { size, bucket: tokens }] of this.#queues)
      if (size === 0 && tokens.isFull(nowMs)) this.#queues.delete(other);
    const queue = new RateLimitedQueue(bucket);
    this.#queues.set(name, queue);
    return queue;
  }

  /** Removes keys before this one that will not ask again. */
  #firstOf(queue: RateLimitedQueue, asking: string): string | undefined {
    const { nowMs, willTry } = this.#options;
    let first = queue.peekDue(nowMs());
    while (first !== undefined && first !== asking && !willTry(first)) {
      this.#waiting.delete(first);
      this.#queueOf.delete(first);
      queue.remove(first);
      first = queue.peekDue(nowMs());
    }
    return first;
  }

  /** The queue may have been dropped meanwhile, and another one have its name: then the token grants nothing. */
  #returnToken(queue: RateLimitedQueue, takenAtMs: number): void {
    queue.returnToken(this.#options.nowMs(), takenAtMs);
    this.#callFirst(queue);
  }

  #callFirst(queue: RateLimitedQueue): void {
    const nowMs = this.#options.nowMs();
    const first = queue.peekDue(nowMs);
    if (first !== undefined) this.#options.onFirst(first, Math.max(0, queue.nextTokenAtMs(nowMs) - nowMs));
  }
}
