// When which node renews: each one every 10 s at its own time, as kubelets that started at different times do.
import { SeededRandom } from '../../support/fakes.ts';

export const renewEveryMs = 10_000;

interface Turn {
  readonly node: string;
  /** Offset in the interval. */
  readonly phaseMs: number;
}

interface Due {
  readonly node: string;
  readonly atMs: number;
}

/** An endless sequence of renewals in the order of time. The same nodes always have the same times. */
export class RenewalSchedule {
  readonly #turns: readonly Turn[];
  readonly #startedAtMs: number;
  #next = 0;

  constructor(nodes: readonly string[], startedAtMs: number) {
    const random = new SeededRandom(1);
    const turns = nodes.map((node) => ({ node, phaseMs: random.next() * renewEveryMs }));
    this.#turns = turns.sort((a, b) => a.phaseMs - b.phaseMs);
    this.#startedAtMs = startedAtMs;
  }

  /** The next renewal, which the caller then sends. There is at least one node. */
  next(): Due {
    const round = Math.floor(this.#next / this.#turns.length);
    const turn = this.#turns[this.#next % this.#turns.length];
    if (turn === undefined) throw new Error('no node renews');
    this.#next += 1;
    return { node: turn.node, atMs: this.#startedAtMs + round * renewEveryMs + turn.phaseMs };
  }
}
