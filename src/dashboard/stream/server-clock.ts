/**
 * The clock of the server, by the times in what it sends. Such a time may be old when it arrives, and is never in the
 * future: the largest difference to the clock of the browser is the best estimate. Differences from before the last but one
 * stream are forgotten, because a clock may be set back.
 */
export class ServerClock {
  #beforeMs = -Infinity;
  #currentMs = -Infinity;

  /** A new stream begins. */
  restart(): void {
    this.#beforeMs = this.#currentMs;
    this.#currentMs = -Infinity;
  }

  /** `at`: a time of the server, in any form that `Date` reads; others are ignored. */
  observe(at: string | null | undefined): void {
    const differenceMs = Date.parse(at ?? '') - Date.now();
    if (differenceMs > this.#currentMs) this.#currentMs = differenceMs;
  }

  /** The time of the browser until a time of the server is known. */
  nowMs(): number {
    const differenceMs = Math.max(this.#beforeMs, this.#currentMs);
    return Date.now() + (Number.isFinite(differenceMs) ? differenceMs : 0);
  }
}
