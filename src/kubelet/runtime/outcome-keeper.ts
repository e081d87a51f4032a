import type { SyncOutcome, Waiting } from './pod-runtime.ts';

/** Puts together what came of one pass over a pod. */
export class OutcomeKeeper {
  readonly #waiting: Waiting[] = [];
  readonly #failures: string[] = [];
  #backoffEndsAtMs: number | undefined;

  get told(): SyncOutcome {
    const failure = this.#failures.length === 0 ? undefined : describeFailures(this.#failures);
    return { waiting: this.#waiting, backoffEndsAtMs: this.#backoffEndsAtMs, failure };
  }

  /** Something of the pod as a whole failed. */
  fail(message: string): void {
    this.#failures.push(message);
  }

  /** A container could not be started, and the next pass may do better. */
  failStart(waiting: Waiting): void {
    this.#waiting.push(waiting);
    const { container, reason, message } = waiting;
    this.#failures.push(`failed to "StartContainer" for "${container}" with ${reason}: ${JSON.stringify(message)}`);
  }

  /** A container has to wait, which is no failure. */
  holdBack(waiting: Waiting, untilMs: number): void {
    this.#waiting.push(waiting);
    this.#backoffEndsAtMs = Math.min(this.#backoffEndsAtMs ?? untilMs, untilMs);
  }
}

/** Several failures as Go's aggregate has them: each once, in brackets. */
function describeFailures(failures: readonly string[]): string {
  const [first = '', ...others] = new Set(failures);
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
}
