/** Names per batch: a few microseconds each, so that a pass takes only a few milliseconds longer. */
export const resyncBatchMax = 250;
/** Between two batches of a resync that is behind, as after a suspend. */
const catchUpMs = 10;
const waitMsMax = 5_000;

interface ResyncScheduleOptions {
  /** Each name is due once in this time; read at each call. */
  readonly periodMs: () => number;
  /** All names, read when a round begins. */
  readonly names: () => readonly string[];
}

/**
 * Returns every name once per period, spread evenly. Time is an argument. It depends on no event: a name that exists
 * when a round begins is returned in that round.
 */
export class ResyncSchedule {
  readonly #options: ResyncScheduleOptions;
  #names: readonly string[] = [];
  #next = 0;
  #roundStartedAtMs: number | undefined;

  constructor(options: ResyncScheduleOptions) {
    this.#options = options;
  }

  /** The names that became due since the last call, at most {@link resyncBatchMax} of them. */
  take(nowMs: number): readonly string[] {
    if (this.#roundStartedAtMs === undefined || this.#isRoundOver(nowMs)) this.#begin(nowMs);
    const until = Math.min(this.#dueBy(nowMs), this.#next + resyncBatchMax);
    const names = this.#names.slice(this.#next, until);
    this.#next = Math.max(this.#next, until);
    return names;
  }

  /** How long to wait before the next call. */
  waitMs(nowMs: number): number {
    if (this.#dueBy(nowMs) > this.#next) return catchUpMs;
    const batches = Math.max(1, this.#names.length / resyncBatchMax);
    return Math.min(waitMsMax, this.#options.periodMs() / batches);
  }

  #begin(nowMs: number): void {
    this.#names = this.#options.names();
    this.#next = 0;
    this.#roundStartedAtMs = nowMs;
  }

  #isRoundOver(nowMs: number): boolean {
    return this.#next >= this.#names.length && this.#elapsedMs(nowMs) >= this.#options.periodMs();
  }

  #dueBy(nowMs: number): number {
    const share = Math.min(1, this.#elapsedMs(nowMs) / this.#options.periodMs());
    return Math.ceil(share * this.#names.length);
  }

  #elapsedMs(nowMs: number): number {
    return nowMs - (this.#roundStartedAtMs ?? nowMs);
  }
}
