import { RateLimitedQueue } from './rate-limited-queue.ts';
import { TokenBucket } from './token-bucket.ts';

export interface RateLimit {
  readonly ratePerSecond: number;
  readonly burst: number;
}

interface RateLimitedQueuesOptions {
  /** The limit of a new queue, read at its creation; a queue of a zone that was not known before has a full bucket. */
  readonly limit: (zone: string) => RateLimit;
  /** Called with every change in the length of a queue; undefined when the queue is dropped. */
  readonly onLength: (zone: string, length: number | undefined) => void;
  /**
   * The outer zone of a zone, always the same one: an action in a zone needs a token of its outer zone too, which has a queue
   * without keys for its bucket. Absent: zones have one level.
   */
  readonly outerOf?: (zone: string) => string | undefined;
}

/** Queues of keys that wait for a rate-limited action, one per zone, each with its own token bucket. A key is in one queue only. */
export class RateLimitedQueues {
  readonly #options: RateLimitedQueuesOptions;
  readonly #queues = new Map<string, RateLimitedQueue>();
  readonly #zoneOf = new Map<string, string>();
  /** Deleted zones whose queues still contain keys. */
  readonly #ending = new Set<string>();
  /** Buckets of dropped queues that are not full: a zone that comes back gets no token early. */
  readonly #spent = new Map<string, TokenBucket>();
  readonly #listeners: (() => void)[] = [];

  constructor(options: RateLimitedQueuesOptions) {
    this.#options = options;
  }

  zones(): readonly string[] {
    return [...this.#queues.keys()].sort();
  }

  /** Number of queued keys, all zones together. */
  get size(): number {
    return this.#zoneOf.size;
  }

  /** Number of zones that anything is known of. */
  get zonesRemembered(): number {
    return this.#queues.size + this.#spent.size;
  }

  /** All queued keys of all zones. */
  keys(): readonly string[] {
    return [...this.#zoneOf.keys()];
  }

  /** All zones in the order in which they are to be served: of those of one outer zone, that with the oldest last token first. */
  inServingOrder(): readonly string[] {
    return this.zones().toSorted((a, b) => this.#compareOrder(a, b));
  }

  /** This zone and those that need tokens of the same outer zone, in the order in which they are to be served. */
  competing(zone: string): readonly string[] {
    const outer = this.#outerOf(zone);
    return outer === undefined ? [zone] : this.inServingOrder().filter((other) => this.#outerOf(other) === outer);
  }

  #compareOrder(a: string, b: string): number {
    const groups = compare(this.#outerOf(a) ?? a, this.#outerOf(b) ?? b);
    const grantedAtMs = (zone: string): number => this.#queues.get(zone)?.grantedAtMs ?? -Infinity;
    return groups || compare(grantedAtMs(a), grantedAtMs(b)) || compare(a, b);
  }

  #outerOf(zone: string): string | undefined {
    return this.#options.outerOf?.(zone);
  }

  get(zone: string): RateLimitedQueue | undefined {
    return this.#queues.get(zone);
  }

  /** The queue that contains this key. */
  queueOf(key: string): RateLimitedQueue | undefined {
    const zone = this.#zoneOf.get(key);
    return zone === undefined ? undefined : this.#queues.get(zone);
  }

  /** Calls the listener when {@link nextDueMs} may have decreased, so that a sleep until then can be shortened. */
  onEarlier(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** The first time at which a key of any zone is due and a token is available; Infinity if that needs another call first. */
  nextDueMs(nowMs: number): number {
    let nextMs = Infinity;
    for (const queue of this.#queues.values()) nextMs = Math.min(nextMs, queue.nextDueMs(nowMs));
    return nextMs;
  }

  /** The queue of this zone, which exists; created if necessary. */
  ensure(zone: string, nowMs: number): RateLimitedQueue {
    this.#ending.delete(zone);
    const outer = this.#outerOf(zone);
    const shared = outer === undefined ? undefined : this.ensure(outer, nowMs).bucket;
    const known = this.#queues.get(zone);
    if (known !== undefined) return known;
    const onEarlier = (): void => {
      for (const listener of this.#listeners) listener();
    };
    const queue = new RateLimitedQueue(this.#takeBucket(zone, nowMs), onEarlier, shared);
    this.#queues.set(zone, queue);
    this.#reportLength(zone);
    return queue;
  }

  #takeBucket(zone: string, nowMs: number): TokenBucket {
    const { ratePerSecond, burst } = this.#options.limit(zone);
    const bucket = this.#spent.get(zone) ?? new TokenBucket(ratePerSecond, burst, nowMs);
    bucket.resize(ratePerSecond, burst, nowMs);
    this.#spent.delete(zone);
    return bucket;
  }

  /** Moves the key to its zone's queue. Returns the number of keys ahead; undefined if it was queued there already. */
  add(key: string, zone: string, nowMs: number): number | undefined {
    if (this.#zoneOf.get(key) !== zone) this.remove(key);
    const queue = this.ensure(zone, nowMs);
    const ahead = queue.size;
    if (!queue.add(key, nowMs)) return undefined;
    this.#zoneOf.set(key, zone);
    this.#reportLength(zone);
    return ahead;
  }

  /** Removes the key from its queue. */
  remove(key: string): boolean {
    const zone = this.#zoneOf.get(key);
    if (zone === undefined) return false;
    this.#zoneOf.delete(key);
    this.#queues.get(zone)?.remove(key);
    this.#reportLength(zone);
    return true;
  }

  /** The zone whose queue contains the key. */
  zoneOf(key: string): string | undefined {
    return this.#zoneOf.get(key);
  }

  swapRate(zone: string, ratePerSecond: number, nowMs: number): void {
    this.ensure(zone, nowMs).swapRate(ratePerSecond, nowMs);
  }

  /**
   * The zone was deleted. A queue with keys is drained at the rate of a new queue; an empty queue is dropped at once. A zone
   * that is created again meanwhile keeps its queue.
   */
  forget(zone: string, nowMs: number): void {
    const queue = this.#queues.get(zone);
    if (queue === undefined) return;
    this.#ending.add(zone);
    queue.swapRate(this.#options.limit(zone).ratePerSecond, nowMs);
    this.#dropIfEnded(zone);
  }

  /** To be called from time to time: a full bucket of a dropped queue is like a new one. */
  dropFullBuckets(nowMs: number): void {
    for (const [zone, bucket] of this.#spent) if (bucket.isFull(nowMs)) this.#spent.delete(zone);
  }

  #reportLength(zone: string): void {
    this.#options.onLength(zone, this.#queues.get(zone)?.size ?? 0);
    this.#dropIfEnded(zone);
  }

  #dropIfEnded(zone: string): void {
    const queue = this.#queues.get(zone);
    if (!this.#ending.has(zone) || queue?.size !== 0 || this.#isShared(zone)) return;
    this.#ending.delete(zone);
    this.#spent.set(zone, queue.bucket);
    this.#queues.delete(zone);
    this.#options.onLength(zone, undefined);
    const outer = this.#outerOf(zone);
    if (outer !== undefined) this.#dropIfEnded(outer);
  }

  /** A queue takes tokens of its bucket, because this is its outer zone. */
  #isShared(zone: string): boolean {
    return [...this.#queues.keys()].some((other) => this.#outerOf(other) === zone);
  }
}

function compare<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
