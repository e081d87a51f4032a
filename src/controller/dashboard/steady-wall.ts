import type { Clock } from '../../machinery/ports/clock.ts';
import type { Now } from '../model/node-state.ts';

/** The wall clock was set, or has drifted by this much. */
const jumpMs = 250;

/**
 * Both clocks at one moment, with the same difference each time: the two are read one after the other, so that a time of one
 * would else be converted to a slightly different time of the other at each call.
 */
export class SteadyWall {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  #offsetMs: number | undefined;

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  now(): Now {
    const monotonicMs = this.#clock.monotonicMs();
    const offsetMs = this.#clock.nowMs() - monotonicMs;
    if (this.#offsetMs === undefined || Math.abs(offsetMs - this.#offsetMs) > jumpMs) this.#offsetMs = offsetMs;
    return { monotonicMs, wallMs: monotonicMs + this.#offsetMs };
  }
}
