import type { ControllerProcess } from '../../controller/process.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { LinkedAbort } from '../../../machinery/supervision/abort.ts';

/** After a process has ended by itself, for example because it lost the lease. */
const restartMs = 1_000;

interface DemoReplicaOptions {
  readonly name: string;
  readonly clock: Clock;
  /** Makes the process of a start; no two have the same identity. */
  readonly make: (identity: string) => ControllerProcess;
}

/** One replica of the controller: a process that is started again whenever it has ended, as by a Deployment. */
export class DemoReplica {
  readonly name: string;
  readonly #options: DemoReplicaOptions;
  #process: ControllerProcess;
  #starts = 0;
  #stop = new AbortController();
  #wake = new AbortController();
  #downMs = restartMs;
  #isRunning = false;

  constructor(options: DemoReplicaOptions) {
    this.name = options.name;
    this.#options = options;
    this.#process = this.#make();
  }

  /** The process that runs, or the last one. */
  get process(): ControllerProcess {
    return this.#process;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get leads(): boolean {
    return this.#isRunning && this.#process.manager.mayWrite();
  }

  /** Runs until the signal aborts. Rejects if a loop of the controller fails, which is a defect. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#runOnce(signal);
      if (signal.aborted) return;
      await this.#pause(signal);
      if (!signal.aborted) this.#process = this.#make();
    }
  }

  /** Stops the process as SIGTERM does: it releases the lease. It is started again after this time. */
  stop(downMs: number): void {
    this.#downMs = downMs;
    this.#stop.abort();
  }

  /** Starts the process at once if it is stopped or is being stopped. */
  start(): void {
    if (this.#isRunning && !this.#stop.signal.aborted) return;
    this.#downMs = 0;
    this.#wake.abort();
  }

  #make(): ControllerProcess {
    this.#starts += 1;
    return this.#options.make(`${this.name}_${this.#starts}`);
  }

  async #runOnce(signal: AbortSignal): Promise<void> {
    this.#stop = new AbortController();
    this.#downMs = restartMs;
    const ending = new LinkedAbort(signal, this.#stop.signal);
    this.#isRunning = true;
    try {
      await this.#process.run(ending.signal);
    } finally {
      this.#isRunning = false;
      ending.release();
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    this.#wake = new AbortController();
    const pause = new LinkedAbort(signal, this.#wake.signal);
    await this.#options.clock.sleep(this.#downMs, pause.signal);
    pause.release();
  }
}
