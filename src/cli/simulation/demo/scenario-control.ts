import { LinkedAbort } from '../../../machinery/supervision/abort.ts';

/** The scenario of one demo, which a user may end early by an action. */
export class ScenarioControl {
  readonly #ending: LinkedAbort;
  #phase: 'starting' | 'running' | 'ended' = 'starting';

  /** `signal`: the process ends. */
  constructor(signal: AbortSignal) {
    this.#ending = new LinkedAbort(signal);
  }

  get phase(): 'starting' | 'running' | 'ended' {
    return this.#phase;
  }

  /** Aborts when the scenario ends early. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  begin(): void {
    this.#phase = 'running';
  }

  /** Idempotent. */
  end(): void {
    this.#phase = 'ended';
    this.#ending.abort();
    this.#ending.release();
  }
}
