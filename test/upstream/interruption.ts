// SIGINT and SIGTERM: the test programs end, then the cluster, then the command.
import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM'] as const;
/** Of the convention for a process that a signal ended. */
const signalCodeBase = 128;
/** From the signal to the end of this process, however far it is; guards then end all programs. */
const endMsMax = 30_000;

/** Thrown by what does not go on. */
export class Interrupted extends Error {
  constructor(what: string) {
    super(`interrupted: ${what}`);
  }
}

export class Interruption {
  readonly #interrupted = new AbortController();
  #exitCode: number | undefined;

  /** From now on the two signals end the run. A second one of the same kind ends this process, as by default. */
  constructor(say: (line: string) => void) {
    for (const name of signals) {
      process.once(name, () => {
        say(`${name}: ending the test programs and the cluster; a second signal ends them at once`);
        this.#exitCode ??= signalCodeBase + constants.signals[name];
        setTimeout(() => process.exit(this.#exitCode), endMsMax).unref();
        this.#interrupted.abort();
      });
    }
  }

  get signal(): AbortSignal {
    return this.#interrupted.signal;
  }

  /** Undefined if there was no signal. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }
}
