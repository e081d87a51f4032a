import type { Clock } from '../../../machinery/ports/clock.ts';
import { abortReason } from '../../../machinery/supervision/abort.ts';
import { type GroupLoop, LoopGroup, type LoopWatcher } from './loop-group.ts';

/**
 * A loop that uses memory only while it works. Between its turns it has at most a timer, and no suspended async
 * function: a fleet has tens of thousands of loops, and nearly all of them are idle.
 */
export abstract class RestingLoop implements GroupLoop {
  readonly #clock: Clock;
  #signal: AbortSignal | undefined;
  #watcher: LoopWatcher | undefined;
  #state: 'over' | 'working' | 'asleep' | 'resting' = 'over';
  #ringPending = false;
  #sleep: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Does the pending work. Resolves with the time in ms until the next turn: 0 for another turn at once, Infinity to
   * wait for {@link ring}. `done`: the loop has ended.
   */
  protected abstract turn(signal: AbortSignal): Promise<number | 'done'>;

  /** Called before the first turn. */
  protected begin(): void {}

  /** Called after the last turn, also after a failure. */
  protected end(): void {}

  /** True for a loop on which {@link ring} is never called: its sleeps are not cancellable. */
  protected get neverRings(): boolean {
    return false;
  }

  /** Runs the next turn at once, because there may be work. A ring during a turn causes another one. */
  protected ring(): void {
    this.#ringPending = true;
    this.#wake();
  }

  /** Runs it by itself until the signal aborts. Rejects if it fails. */
  run(signal: AbortSignal): Promise<void> {
    return new LoopGroup().run(signal, [this]);
  }

  start(signal: AbortSignal, watcher: LoopWatcher): void {
    if (this.#state !== 'over') throw new Error('loop: must not be started while it runs');
    this.#signal = signal;
    this.#watcher = watcher;
    this.begin();
    void this.#work(signal);
  }

  release(): void {
    this.#wake();
  }

  #wake(): void {
    if (this.#state === 'asleep') this.#sleep?.abort(abortReason);
    if (this.#state !== 'resting' || this.#signal === undefined) return;
    this.#state = 'working';
    // Deferred, so that the caller of ring() continues first.
    void Promise.resolve(this.#signal).then((signal) => this.#work(signal));
  }

  /** Runs turns until one returns a wait. */
  async #work(signal: AbortSignal): Promise<void> {
    this.#state = 'working';
    try {
      let restMs: number | 'done' = 0;
      while (restMs !== 'done' && restMs <= 0 && !signal.aborted) {
        this.#ringPending = false;
        restMs = await this.turn(signal);
        if (this.#ringPending && restMs !== 'done') restMs = 0;
      }
      if (signal.aborted || restMs === 'done') this.#finish();
      else this.#rest(restMs, signal);
    } catch (cause) {
      this.#finish({ cause });
    }
  }

  #rest(ms: number, signal: AbortSignal): void {
    if (ms === Number.POSITIVE_INFINITY) {
      this.#state = 'resting';
      return;
    }
    this.#state = 'asleep';
    this.#sleep = this.neverRings ? undefined : new AbortController();
    void this.#clock.sleep(ms, this.#sleep?.signal ?? signal).then(() => {
      this.#sleep = undefined;
      return this.#work(signal);
    });
  }

  #finish(failure?: { readonly cause: unknown }): void {
    const watcher = this.#watcher;
    this.#state = 'over';
    this.#signal = undefined;
    this.#watcher = undefined;
    this.end();
    watcher?.ended(failure);
  }
}
