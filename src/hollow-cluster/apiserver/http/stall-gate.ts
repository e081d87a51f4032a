/** Holds all answers for a limited time: connections are accepted, and nothing is answered, as by a server that hangs. */
import type { Clock } from '../../../machinery/ports/clock.ts';

const stallMsMax = 120_000;

export class StallGate {
  readonly #clock: Clock;
  #opened: PromiseWithResolvers<void> | undefined;
  #timer: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Holds answers from now on for this time, also if a stall is under way. Throws a RangeError beyond {@link stallMsMax}. */
  start(ms: number): void {
    if (!(ms > 0 && ms <= stallMsMax)) throw new RangeError(`stall: must be > 0 and <= ${stallMsMax} ms (got ${ms})`);
    this.#opened ??= Promise.withResolvers<void>();
    this.#timer?.abort();
    const timer = new AbortController();
    this.#timer = timer;
    void this.#clock.sleep(ms, timer.signal).then(() => {
      if (!timer.signal.aborted) this.end();
    });
  }

  end(): void {
    this.#timer?.abort();
    this.#timer = undefined;
    this.#opened?.resolve();
    this.#opened = undefined;
  }

  get isStalled(): boolean {
    return this.#opened !== undefined;
  }

  /** Resolves when no stall is under way, or when the signal aborts; in the order of the calls. */
  async pass(signal: AbortSignal): Promise<void> {
    while (this.#opened !== undefined && !signal.aborted) await settledOrAborted(this.#opened.promise, signal);
  }
}

function settledOrAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      signal.removeEventListener('abort', go);
      resolve();
    };
    signal.addEventListener('abort', go);
    void promise.then(go);
  });
}
