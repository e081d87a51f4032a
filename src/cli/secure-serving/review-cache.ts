import { LruMap } from '../../machinery/queueing/lru-map.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import { TokenBucket } from '../../machinery/queueing/token-bucket.ts';

/** Rate limit of reviews: sustained rate per second, and burst. */
export interface ReviewRate {
  readonly qps: number;
  readonly burst: number;
}

export interface ReviewCacheOptions<V> {
  readonly clock: Clock;
  /** Limit of each of the two caches: positive results cannot evict negative ones, nor the reverse. */
  readonly entriesMax: number;
  readonly isGood: (answer: V) => boolean;
  /** Time to live of positive results; 0: no caching. */
  readonly goodForMs: number;
  readonly badForMs: number;
  /** For keys whose last result was positive. */
  readonly known: ReviewRate;
  /** For all other keys: a flood of unknown tokens consumes this limit only. */
  readonly unauthenticated: ReviewRate;
}

interface Entry<V> {
  readonly answer: V;
  readonly untilMs: number;
}

/**
 * Caches review results of the API server. One request at a time for each key, and rate limits: keys with a positive last
 * result have a separate limit, so that a flood of unknown tokens does not lock out authorized clients.
 */
export class ReviewCache<V> {
  readonly #options: ReviewCacheOptions<V>;
  readonly #good: LruMap<Entry<V>>;
  readonly #bad: LruMap<Entry<V>>;
  readonly #inFlight = new Map<string, Promise<V>>();
  readonly #known: TokenBucket;
  readonly #unauthenticated: TokenBucket;

  constructor(options: ReviewCacheOptions<V>) {
    const { clock, entriesMax, known, unauthenticated } = options;
    this.#options = options;
    this.#good = new LruMap(entriesMax);
    this.#bad = new LruMap(entriesMax);
    this.#known = new TokenBucket(known.qps, known.burst, clock.monotonicMs());
    this.#unauthenticated = new TokenBucket(unauthenticated.qps, unauthenticated.burst, clock.monotonicMs());
  }

  /** The cached or requested result; `busy` if the rate limit is exceeded. Rejects with the error of `ask`. */
  async answer(key: string, ask: () => Promise<V>): Promise<V | 'busy'> {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#good.get(key) ?? this.#bad.get(key);
    if (known !== undefined && nowMs < known.untilMs) return known.answer;
    const asked = this.#inFlight.get(key);
    if (asked !== undefined) return asked;
    const bucket = this.#good.peek(key) === undefined ? this.#unauthenticated : this.#known;
    if (!bucket.tryTake(nowMs)) return 'busy';
    const asking = this.#ask(key, ask).finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, asking);
    return asking;
  }

  /** A failed review changes no cache entry; the next request tries again. */
  async #ask(key: string, ask: () => Promise<V>): Promise<V> {
    const answer = await ask();
    const { clock, isGood, goodForMs, badForMs } = this.#options;
    const good = isGood(answer);
    const untilMs = clock.monotonicMs() + (good ? goodForMs : badForMs);
    (good ? this.#bad : this.#good).delete(key);
    (good ? this.#good : this.#bad).set(key, { answer, untilMs });
    return answer;
  }
}
