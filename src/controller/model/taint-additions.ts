import type { Clock } from '../../machinery/ports/clock.ts';
import { mayHaveBeenDone, type WriteOutcome } from './commands.ts';

/** A write without an answer may be carried out for this time: the API server ends a request after it. */
const unansweredMsMax = 60_000;

interface Addition {
  readonly isInFlight: boolean;
  /** Time until which an earlier write without an answer counts, on the monotonic clock. */
  readonly unansweredUntilMs: number;
}

/** Nodes to which a NoExecute taint is being added, or was perhaps added by a write without an answer, for a bounded time. */
export class TaintAdditions {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #additions = new Map<string, Addition>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  begin(node: string): void {
    const { unansweredUntilMs = -Infinity } = this.#additions.get(node) ?? {};
    this.#additions.set(node, { isInFlight: true, unansweredUntilMs });
  }

  /** `unanswered`: the taint may have been added. `not-done`: an earlier write without an answer still counts. */
  end(node: string, how: 'done' | 'not-done' | 'unanswered'): void {
    const known = this.#additions.get(node);
    if (known === undefined) return;
    if (how === 'done') this.#additions.delete(node);
    else {
      const unansweredUntilMs =
        how === 'unanswered' ? this.#clock.monotonicMs() + unansweredMsMax : known.unansweredUntilMs;
      this.#additions.set(node, { isInFlight: false, unansweredUntilMs });
    }
    this.#dropEnded();
  }

  /** The nodes as of now. */
  current(): ReadonlyMap<string, unknown> {
    this.#dropEnded();
    return this.#additions;
  }

  #dropEnded(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [node, { isInFlight, unansweredUntilMs }] of this.#additions)
      if (!isInFlight && unansweredUntilMs <= nowMs) this.#additions.delete(node);
  }
}

/** `undefined`: an exception, after which the taint may have been added. */
export function endingOf(outcome: WriteOutcome | undefined): 'done' | 'not-done' | 'unanswered' {
  if (outcome === undefined || mayHaveBeenDone(outcome)) return 'unanswered';
  return outcome.result === 'written' || outcome.result === 'gone' ? 'done' : 'not-done';
}
