import type { Clock } from '../ports/clock.ts';
import { type GroupLoop, LoopGroup, type LoopWatcher } from './loop-group.ts';

/**
 * A loop that exists only while it does something. Between its turns there is an appointment with the clock, or not even
 * that, but no function that waits: a fleet has tens of thousands of loops, and nearly all of them rest.
 */
export abstract class RestingLoop implements GroupLoop {
  readonly #clock: Clock;
  #signal: AbortSignal | undefined;
  #watcher: LoopWatcher | undefined;
  #state: 'over' | 'working' | 'asleep' | 'resting' = 'over';
  #isRung = false;
  #sleep: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Does what there is to do. Resolves with how long there will be nothing, in ms: 0 for another turn at once, Infinity
   * to rest until somebody rings. `done`: there will never be anything again.
   */
  protected abstract turn(signal: AbortSignal): Promise<number | 'done'>;

  /** Called before the first turn. */
  protected begin(): void {}

  /** Called after the last turn, however it came out. */
  protected end(): void {}

  /** Nobody ever rings: its sleeps need no way to end early. */
  protected get isDeaf(): boolean {
    return false;
  }

  /** There may be something to do: the next turn comes at once. A ring in the middle of a turn leads to another one. */
  protected ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  start(signal: AbortSignal, watcher: LoopWatcher): void {
    if (this.#state !== 'over') throw new Error('a loop cannot be started before it has ended');
    this.#signal = signal;
    this.#watcher = watcher;
    this.begin();
    void this.#work(signal);
  }

  release(): void {
    this.#wake();
  }

  #wake(): void {
    if (this.#state === 'asleep') this.#sleep?.abort();
    if (this.#state !== 'resting' || this.#signal === undefined) return;
    this.#state = 'working';
    // Whoever rings goes on first.
    void Promise.resolve(this.#signal).then((signal) => this.#work(signal));
  }

  /** One turn after another, until there is a rest. */
  async #work(signal: AbortSignal): Promise<void> {
    this.#state = 'working';
    try {
      let restMs: number | 'done' = 0;
      while (restMs !== 'done' && restMs <= 0 && !signal.aborted) {
        this.#isRung = false;
        restMs = await this.turn(signal);
        if (this.#isRung && restMs !== 'done') restMs = 0;
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
    this.#sleep = this.isDeaf ? undefined : new AbortController();
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

/** Runs one loop by itself until the signal aborts. Rejects with what it failed with. */
export function runAlone(loop: GroupLoop, signal: AbortSignal): Promise<void> {
  return new LoopGroup().run(signal, [loop]);
}
