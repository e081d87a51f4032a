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

interface ReviewEntry<V> {
  readonly answer: V;
  readonly untilMs: number;
}

/**
 * Caches review results of the API server. One request at a time for each key, and rate limits: keys with a positive last
 * result have a separate limit, so that a flood of unknown tokens does not lock out authorized clients.
 */
export class ReviewCache<V> {
  readonly #options: ReviewCacheOptions<V>;
  readonly #good: LruMap<ReviewEntry<V>>;
  readonly #bad: LruMap<ReviewEntry<V>>;
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

  /** The cached or requested result; `busy` if the rate limit is exceeded. Rejects with the error of `review`. */
  async answer(key: string, review: () => Promise<V>): Promise<V | 'busy'> {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#good.get(key) ?? this.#bad.get(key);
    if (known !== undefined && nowMs < known.untilMs) return known.answer;
    const asked = this.#inFlight.get(key);
    if (asked !== undefined) return asked;
    const bucket = this.#good.peek(key) === undefined ? this.#unauthenticated : this.#known;
    if (!bucket.tryTake(nowMs)) return 'busy';
    const pending = this.#review(key, review).finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, pending);
    return pending;
  }

  /** A failed review changes no cache entry; the next request tries again. */
  async #review(key: string, review: () => Promise<V>): Promise<V> {
    const answer = await review();
    const { clock, isGood, goodForMs, badForMs } = this.#options;
    const good = isGood(answer);
    const untilMs = clock.monotonicMs() + (good ? goodForMs : badForMs);
    (good ? this.#bad : this.#good).delete(key);
    (good ? this.#good : this.#bad).set(key, { answer, untilMs });
    return answer;
  }
}
