import type { Clock } from '../ports/clock.ts';

export interface WatchGuardOptions {
  readonly clock: Clock;
  /** Cancelled together with this one. */
  readonly signal: AbortSignal;
  /** Silence after which the stream counts as dead; it may change while the stream lasts. */
  readonly quietMsMax: () => number;
  /** Age after which the stream is ended, in case the server forgot to. */
  readonly ageMsMax: number;
}

/** How soon a limit that has become shorter is noticed. */
const recheckMs = 5_000;

/**
 * Ends a watch that has fallen silent. A connection can be dead without anybody saying so: the peer vanished, or a
 * middlebox swallows everything. Bookmarks come every minute, so longer silence means that nothing can be heard.
 */
export class WatchGuard {
  readonly #options: WatchGuardOptions;
  readonly #controller = new AbortController();
  readonly #openedAtMs: number;
  #heardAtMs: number;
  #tripped = false;
  readonly #watching: Promise<void>;

  constructor(options: WatchGuardOptions) {
    this.#options = options;
    this.#openedAtMs = options.clock.monotonicMs();
    this.#heardAtMs = this.#openedAtMs;
    if (options.signal.aborted) this.#cancel();
    options.signal.addEventListener('abort', this.#cancel);
    this.#watching = this.#watch();
  }

  /** For the watch: aborts when the guard trips, when the outer signal aborts, and on {@link close}. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** It was the guard that ended the stream. */
  get tripped(): boolean {
    return this.#tripped;
  }

  /** Somebody knows better than the clock that nothing can be heard. */
  trip(): void {
    if (this.signal.aborted) return;
    this.#tripped = true;
    this.#cancel();
  }

  heard(): void {
    this.#heardAtMs = this.#options.clock.monotonicMs();
  }

  /** Resolves when nothing of the guard runs any more. */
  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#cancel);
    this.#cancel();
    await this.#watching;
  }

  readonly #cancel = (): void => {
    this.#controller.abort();
  };

  async #watch(): Promise<void> {
    const { clock } = this.#options;
    for (let leftMs = this.#leftMs(); leftMs > 0; leftMs = this.#leftMs()) {
      await clock.sleep(Math.min(leftMs, recheckMs), this.signal);
      if (this.signal.aborted) return;
    }
    this.trip();
  }

  #leftMs(): number {
    const { clock, quietMsMax, ageMsMax } = this.#options;
    const untilMs = Math.min(this.#heardAtMs + quietMsMax(), this.#openedAtMs + ageMsMax);
    return untilMs - clock.monotonicMs();
  }
}
