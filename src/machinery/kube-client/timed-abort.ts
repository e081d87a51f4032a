import { LinkedAbort } from '../supervision/abort.ts';

/** A signal that aborts with any parent signal, or at a timeout; {@link release} removes the listeners and the timer. */
export class TimedAbort extends LinkedAbort {
  #timer: NodeJS.Timeout | undefined;
  readonly #startedAtMs = performance.now();
  #overdue = false;

  constructor(parents: readonly AbortSignal[], timeoutMs?: number) {
    super(...parents);
    this.#timer = timeoutMs === undefined ? undefined : setTimeout(this.#expire, timeoutMs);
  }

  /** The timeout aborted it. */
  get overdue(): boolean {
    return this.#overdue;
  }

  /** A parent signal aborted it. */
  get aborted(): boolean {
    return this.signal.aborted && !this.#overdue;
  }

  /** Restarts the timeout; it expires at the latest `wholeMs` after the construction plus one timeout. */
  extend(wholeMs = Infinity): void {
    if (this.signal.aborted) return;
    if (performance.now() - this.#startedAtMs >= wholeMs) this.#expire();
    else this.#timer?.refresh();
  }

  /**
   * Replaces the timeout: it expires this long after the last call of {@link extend}. It keeps no process alive, because a
   * body that is never read is never released.
   */
  restart(timeoutMs: number): void {
    this.stopTimer();
    if (!this.signal.aborted) this.#timer = setTimeout(this.#expire, timeoutMs).unref();
  }

  /** Stops the timeout; the parent signals still count. */
  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  override release(): void {
    this.stopTimer();
    super.release();
  }

  readonly #expire = (): void => {
    this.#overdue = !this.signal.aborted;
    this.abort();
  };
}
