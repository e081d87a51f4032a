import type { Meter } from '../../ports/meter.ts';
import { RateLimitedQueue } from '../../queueing/rate-limited-queue.ts';
import { TokenBucket } from '../../queueing/token-bucket.ts';
import { evictionsTotal, taintQueueDepth } from './metrics.ts';

/** One taint at a time: a rate is a promise about every window, however short. */
const burst = 1;

/** The lines in which nodes wait for their NoExecute taint, one a zone, each with its own token bucket. */
export class ZoneTaintQueues {
  readonly #initialRatePerSecond: number;
  readonly #meter: Meter;
  readonly #queues = new Map<string, RateLimitedQueue>();
  readonly #zoneOf = new Map<string, string>();

  constructor(initialRatePerSecond: number, meter: Meter) {
    this.#initialRatePerSecond = initialRatePerSecond;
    this.#meter = meter;
  }

  zones(): readonly string[] {
    return [...this.#queues.keys()].sort();
  }

  get(zone: string): RateLimitedQueue | undefined {
    return this.#queues.get(zone);
  }

  /** The line of this zone; a new one starts with a full bucket at the normal rate. */
  ensure(zone: string, nowMs: number): RateLimitedQueue {
    const known = this.#queues.get(zone);
    if (known !== undefined) return known;
    const queue = new RateLimitedQueue(new TokenBucket(this.#initialRatePerSecond, burst, nowMs));
    this.#queues.set(zone, queue);
    this.#meter.add(evictionsTotal, 0, { zone });
    return queue;
  }

  /** Puts the node into its zone's line, leaving any other zone's. Says how many are ahead; undefined if it waited already. */
  add(node: string, zone: string, nowMs: number): number | undefined {
    if (this.#zoneOf.get(node) !== zone) this.remove(node);
    const queue = this.ensure(zone, nowMs);
    const ahead = queue.size;
    if (!queue.add(node, nowMs)) return undefined;
    this.#zoneOf.set(node, zone);
    this.#publish(zone);
    return ahead;
  }

  /** Withdraws the node from whichever line it is in. */
  remove(node: string): boolean {
    const zone = this.#zoneOf.get(node);
    if (zone === undefined) return false;
    this.#zoneOf.delete(node);
    this.#queues.get(zone)?.remove(node);
    this.#publish(zone);
    return true;
  }

  zoneOf(node: string): string | undefined {
    return this.#zoneOf.get(node);
  }

  swapRate(zone: string, ratePerSecond: number, nowMs: number): void {
    this.ensure(zone, nowMs).swapRate(ratePerSecond, nowMs);
  }

  /** A zone that has no node left. */
  forget(zone: string): void {
    for (const node of this.#queues.get(zone)?.keysInOrder() ?? []) this.#zoneOf.delete(node);
    this.#queues.delete(zone);
    this.#meter.forget(taintQueueDepth, { zone });
  }

  #publish(zone: string): void {
    this.#meter.set(taintQueueDepth, this.#queues.get(zone)?.size ?? 0, { zone });
  }
}
