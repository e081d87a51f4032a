import { formatTime, parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Now } from '../../controller/model/node-state.ts';

const toleranceMsMin = 2_000;
const toleranceShare = 0.05;

/** The wall clock was set, or has drifted by this much. */
const jumpMs = 250;

/**
 * An expected wall time as text. The text stays the same while the time moves by less than 2 s, or by less than a twentieth of
 * what is left until it: otherwise every node of a queue would change with each node that is served a little early or late.
 */
export function steadyTime(previous: string | null | undefined, atMs: number, nowMs: number): string {
  const previousMs = parseTimestamp(previous);
  const toleranceMs = Math.max(toleranceMsMin, (atMs - nowMs) * toleranceShare);
  if (typeof previous === 'string' && previousMs !== undefined && Math.abs(previousMs - atMs) < toleranceMs)
    return previous;
  return formatTime(atMs);
}

/**
 * A reading of the wall clock and the monotonic clock with a constant difference: the two are read one after the other,
 * so that a time of one would else be converted to a slightly different time of the other at each call.
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
