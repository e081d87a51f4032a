import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../src/machinery/ports/clock.ts';

/** A clock that runs faster than the wall clock by a factor: minutes of timeouts in seconds, over real sockets. */
export class HurriedClock implements Clock {
  readonly #factor: number;
  #sleeping = 0;

  constructor(factor: number) {
    this.#factor = factor;
  }

  /** Pending sleeps: each has a timer. */
  get sleeping(): number {
    return this.#sleeping;
  }

  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now() * this.#factor;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.#sleeping += 1;
    const untilMs = this.monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs = untilMs - this.monotonicMs()) {
      await pause(Math.ceil(leftMs / this.#factor), signal);
    }
    this.#sleeping -= 1;
  }
}

/** Resolves after `ms` of wall time, or when the signal aborts. Never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return wait(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
