import { RateLimitedQueue } from './rate-limited-queue.ts';
import { TokenBucket } from './token-bucket.ts';

export interface RateLimitedLinesOptions {
  /** Of a new line, read when it begins; it starts with a full bucket. */
  readonly ratePerSecond: number;
  /** Acts at once, at the most; read when a line begins. */
  readonly burst: number;
  /** Told of every change in the length of a line; undefined when the line is no more. */
  readonly onLength: (zone: string, length: number | undefined) => void;
}

/** Lines in which keys wait for a rationed act, one a zone, each with its own token bucket. A key waits in one line only. */
export class RateLimitedLines {
  readonly #options: RateLimitedLinesOptions;
  readonly #lines = new Map<string, RateLimitedQueue>();
  readonly #zoneOf = new Map<string, string>();

  constructor(options: RateLimitedLinesOptions) {
    this.#options = options;
  }

  zones(): readonly string[] {
    return [...this.#lines.keys()].sort();
  }

  /** Everybody who waits, in whichever line. */
  keys(): readonly string[] {
    return [...this.#zoneOf.keys()];
  }

  get(zone: string): RateLimitedQueue | undefined {
    return this.#lines.get(zone);
  }

  /** The line of this zone; made if there is none. */
  ensure(zone: string, nowMs: number): RateLimitedQueue {
    const known = this.#lines.get(zone);
    if (known !== undefined) return known;
    const { ratePerSecond, burst } = this.#options;
    const line = new RateLimitedQueue(new TokenBucket(ratePerSecond, burst, nowMs));
    this.#lines.set(zone, line);
    this.#tell(zone);
    return line;
  }

  /** Puts the key into its zone's line, leaving any other. Says how many are ahead; undefined if it waited there already. */
  add(key: string, zone: string, nowMs: number): number | undefined {
    if (this.#zoneOf.get(key) !== zone) this.remove(key);
    const line = this.ensure(zone, nowMs);
    const ahead = line.size;
    if (!line.add(key, nowMs)) return undefined;
    this.#zoneOf.set(key, zone);
    this.#tell(zone);
    return ahead;
  }

  /** Withdraws the key from whichever line it is in. */
  remove(key: string): boolean {
    const zone = this.#zoneOf.get(key);
    if (zone === undefined) return false;
    this.#zoneOf.delete(key);
    this.#lines.get(zone)?.remove(key);
    this.#tell(zone);
    return true;
  }

  /** The zone in whose line the key waits. */
  zoneOf(key: string): string | undefined {
    return this.#zoneOf.get(key);
  }

  swapRate(zone: string, ratePerSecond: number, nowMs: number): void {
    this.ensure(zone, nowMs).swapRate(ratePerSecond, nowMs);
  }

  /** A zone that is no more: nobody waits in it. */
  forget(zone: string): void {
    for (const key of this.#lines.get(zone)?.keysInOrder() ?? []) this.#zoneOf.delete(key);
    this.#lines.delete(zone);
    this.#options.onLength(zone, undefined);
  }

  #tell(zone: string): void {
    this.#options.onLength(zone, this.#lines.get(zone)?.size ?? 0);
  }
}
