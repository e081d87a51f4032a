import { LruMap } from '../../events/lru-map.ts';
import type { Clock } from '../../ports/clock.ts';
import { TokenBucket } from '../../queueing/token-bucket.ts';

/** Questions a second in the long run, and at once after a rest. */
export interface ReviewRate {
  readonly qps: number;
  readonly burst: number;
}

export interface ReviewCacheOptions<V> {
  readonly clock: Clock;
  /** Of answers that let somebody in, and of those that do not: neither kind can push out the other. */
  readonly entriesMax: number;
  readonly isGood: (answer: V) => boolean;
  /** How long an answer holds; 0: it is asked for each time. */
  readonly goodForMs: number;
  readonly badForMs: number;
  /** For keys whose last answer was good. */
  readonly known: ReviewRate;
  /** For all others: whoever floods us with new ones spends this, and no more. */
  readonly strangers: ReviewRate;
}

interface Entry<V> {
  readonly answer: V;
  readonly untilMs: number;
}

/**
 * Answers of the API server that hold for a while. One question at a time for each key, and a limit to questions: those
 * who were let in last time have one of their own, so that a flood of strangers does not lock them out.
 */
export class ReviewCache<V> {
  readonly #options: ReviewCacheOptions<V>;
  readonly #good: LruMap<Entry<V>>;
  readonly #bad: LruMap<Entry<V>>;
  readonly #asking = new Map<string, Promise<V>>();
  readonly #known: TokenBucket;
  readonly #strangers: TokenBucket;

  constructor(options: ReviewCacheOptions<V>) {
    const { clock, entriesMax, known, strangers } = options;
    this.#options = options;
    this.#good = new LruMap(entriesMax);
    this.#bad = new LruMap(entriesMax);
    this.#known = new TokenBucket(known.qps, known.burst, clock.monotonicMs());
    this.#strangers = new TokenBucket(strangers.qps, strangers.burst, clock.monotonicMs());
  }

  /** The answer, known or asked for; `busy` where too much was asked already. Rejects with what `ask` rejects with. */
  async answer(key: string, ask: () => Promise<V>): Promise<V | 'busy'> {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#good.get(key) ?? this.#bad.get(key);
    if (known !== undefined && nowMs < known.untilMs) return known.answer;
    const asked = this.#asking.get(key);
    if (asked !== undefined) return asked;
    const bucket = this.#good.peek(key) === undefined ? this.#strangers : this.#known;
    if (!bucket.tryTake(nowMs)) return 'busy';
    const asking = this.#ask(key, ask).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  /** A question that fails leaves everything as it was: it is asked again, and nobody is let in meanwhile. */
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
