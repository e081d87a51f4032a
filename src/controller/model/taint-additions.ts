import type { Clock } from '../../machinery/ports/clock.ts';
import { mayHaveBeenDone, type WriteOutcome } from './commands.ts';

/** A write without an answer may be carried out for this time: the API server ends a request after it. */
const unansweredMsMax = 60_000;

interface Addition {
  /** Number of writes without an answer yet. */
  readonly inFlight: number;
  /** Time until which an earlier write without an answer counts, on the monotonic clock. */
  readonly unansweredUntilMs: number;
}

const none: Addition = { inFlight: 0, unansweredUntilMs: -Infinity };

/** Nodes to which a NoExecute taint is being added, or was perhaps added by a write without an answer, for a bounded time. */
export class TaintAdditions {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #additions = new Map<string, Addition>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  begin(node: string): void {
    const known = this.#additions.get(node) ?? none;
    this.#additions.set(node, { ...known, inFlight: known.inFlight + 1 });
  }

  /** `unanswered`: the taint may have been added. `not-done`: an earlier write without an answer still counts. */
  end(node: string, how: 'done' | 'not-done' | 'unanswered'): void {
    const known = this.#additions.get(node);
    if (known === undefined) return;
    const untilMs = {
      done: -Infinity,
      'not-done': known.unansweredUntilMs,
      unanswered: this.#clock.monotonicMs() + unansweredMsMax,
    };
    this.#additions.set(node, { inFlight: Math.max(0, known.inFlight - 1), unansweredUntilMs: untilMs[how] });
    this.#dropEnded();
  }

  /** The nodes as of now. */
  current(): ReadonlyMap<string, unknown> {
    this.#dropEnded();
    return this.#additions;
  }

  #dropEnded(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [node, { inFlight, unansweredUntilMs }] of this.#additions)
      if (inFlight === 0 && unansweredUntilMs <= nowMs) this.#additions.delete(node);
  }
}

/** `undefined`: an exception, after which the taint may have been added. */
export function endingOf(outcome: WriteOutcome | undefined): 'done' | 'not-done' | 'unanswered' {
  if (outcome === undefined || mayHaveBeenDone(outcome)) return 'unanswered';
  return outcome.result === 'written' || outcome.result === 'gone' ? 'done' : 'not-done';
}
