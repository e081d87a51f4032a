import type { SyncOutcome, Waiting } from './pod-runtime.ts';

/** Collects the result of one sync of a pod. */
export class SyncOutcomeBuilder {
  readonly #waiting: Waiting[] = [];
  readonly #failures: string[] = [];
  #backoffEndsAtMs: number | undefined;

  get outcome(): SyncOutcome {
    const failure = this.#failures.length === 0 ? undefined : describeFailures(this.#failures);
    return { waiting: this.#waiting, backoffEndsAtMs: this.#backoffEndsAtMs, failure };
  }

  /** An operation on the pod as a whole failed. */
  addFailure(message: string): void {
    this.#failures.push(message);
  }

  /** A container failed to start; the next sync tries again. */
  addStartFailure(waiting: Waiting): void {
    this.#waiting.push(waiting);
    const { container, reason, message } = waiting;
    this.#failures.push(`failed to "StartContainer" for "${container}" with ${reason}: ${JSON.stringify(message)}`);
  }

  /** A container waits for its back-off, which is not a failure. */
  addBackoff(waiting: Waiting, untilMs: number): void {
    this.#waiting.push(waiting);
    this.#backoffEndsAtMs = Math.min(this.#backoffEndsAtMs ?? untilMs, untilMs);
  }
}

/** Several failures in the format of Go's aggregate: in brackets, without duplicates. */
function describeFailures(failures: readonly string[]): string {
  const [first = '', ...others] = new Set(failures);
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
}
