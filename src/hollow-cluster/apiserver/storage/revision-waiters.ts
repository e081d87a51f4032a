import type { Clock } from '../../../machinery/ports/clock.ts';

/** Callers that wait until a store has reached a revision. */
export class RevisionWaiters {
  readonly #clock: Clock;
  readonly #revision: () => number;
  readonly #checks = new Set<() => void>();

  constructor(clock: Clock, revision: () => number) {
    this.#clock = clock;
    this.#revision = revision;
  }

  /** Wakes those that wait, after each change of the revision. */
  notify(): void {
    for (const check of this.#checks) check();
  }

  /** Resolves with true once the store has reached `revision`, with false if it has not within `waitMs`. */
  async reach(revision: number, waitMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#revision() >= revision) return true;
    const reached = new AbortController();
    const check = (): void => {
      if (this.#revision() >= revision) reached.abort();
    };
    this.#checks.add(check);
    await this.#clock.sleep(waitMs, AbortSignal.any([reached.signal, signal]));
    this.#checks.delete(check);
    return this.#revision() >= revision;
  }
}
