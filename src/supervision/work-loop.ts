import type { Clock } from '../ports/clock.ts';
import { backOffAtLeast, type Outcome, type WorkQueue } from '../queueing/work-queue.ts';
import { Alarm } from './alarm.ts';
import { LoopMeasure, type Measured } from './loop-measure.ts';

const idleWaitMsMax = 60_000;
/** While somebody works, what is told of it is at most this old. */
const measureEveryMs = 500;
/** Looks in a row, none of which may have waited for anything, after which everybody else gets a turn. */
const looksInARowMax = 256;
const restMs = 1;

export interface WorkLoopOptions {
  readonly queue: WorkQueue;
  readonly clock: Clock;
  /** Keys worked on at once. */
  readonly workersMax: number;
  /** Looks at one key. Failures are outcomes; what it throws all the same is a fault of ours. */
  readonly handle: (key: string) => Promise<Outcome>;
  /** Told of a fault. The key is tried again with backoff, and nobody else has to wait for it. */
  readonly onFault: (key: string, error: unknown) => void;
  readonly measured?: Measured;
  /** Looks in a row before others get a turn, which must not wait for long: fewer than 256 where one look takes long. */
  readonly looksInARow?: number;
}

/** Takes due keys off a work queue and has them handled, a bounded number at a time. */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #alarm: Alarm;
  readonly #running = new Set<Promise<void>>();
  readonly #measure: LoopMeasure;
  #shownAtMs = -Infinity;
  #looksInARow = 0;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
    this.#measure = new LoopMeasure(options.measured);
    this.#alarm = new Alarm(options.clock);
  }

  add(key: string, afterMs = 0): void {
    const isNew = this.#options.queue.add(key, this.#options.clock.monotonicMs() + afterMs);
    if (isNew) this.#measure.added();
    this.#alarm.ring();
  }

  /** Works until the signal aborts, then waits for what is under way. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#startDue();
      if (this.#running.size === 0) this.#looksInARow = 0;
      if (this.#isShowDue()) this.#show();
      await this.#alarm.wait(this.#waitMs(), signal);
      await this.#rest(signal);
    }
    await Promise.all(this.#running);
    this.#show();
  }

  /**
   * A look that has nothing to write waits for nothing, and a hundred thousand of those would be one turn of the thread, in
   * which no lease is renewed.
   */
  async #rest(signal: AbortSignal): Promise<void> {
    if (this.#looksInARow < (this.#options.looksInARow ?? looksInARowMax)) return;
    this.#looksInARow = 0;
    await this.#options.clock.sleep(restMs, signal);
  }

  /** Handles everything that is due now, and what that makes due; for whoever has no loop running. */
  async drain(): Promise<void> {
    for (;;) {
      this.#startDue();
      if (this.#running.size === 0) return;
      await Promise.all(this.#running);
    }
  }

  #startDue(): void {
    const { queue, clock, workersMax } = this.#options;
    while (this.#running.size < workersMax) {
      const nowMs = clock.monotonicMs();
      const dueMs = queue.nextDueMs() ?? nowMs;
      const key = queue.take(nowMs);
      if (key === undefined) return;
      this.#looksInARow += 1;
      this.#measure.taken(key, nowMs - dueMs, nowMs);
      const work = this.#work(key).finally(() => this.#running.delete(work));
      this.#running.add(work);
    }
  }

  async #work(key: string): Promise<void> {
    const { queue, clock } = this.#options;
    const outcome = await this.#handle(key);
    this.#measure.done(key, outcome.next !== 'forget', clock.monotonicMs());
    queue.done(key, outcome, clock.monotonicMs());
    this.#alarm.ring();
  }

  async #handle(key: string): Promise<Outcome> {
    const { handle, onFault } = this.#options;
    try {
      return await handle(key);
    } catch (error) {
      onFault(key, error);
      return backOffAtLeast(undefined);
    }
  }

  /** Counting what is due takes as long as there is of it, so it is not done after each look. */
  #isShowDue(): boolean {
    return this.#running.size === 0 || this.#options.clock.monotonicMs() - this.#shownAtMs >= measureEveryMs;
  }

  #show(): void {
    const { queue, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#shownAtMs = nowMs;
    this.#measure.show(queue.countDue(nowMs), nowMs);
  }

  #waitMs(): number {
    const { queue, clock, workersMax, measured } = this.#options;
    const due = this.#running.size < workersMax ? queue.nextDueMs() : undefined;
    const waitMs = due === undefined ? idleWaitMsMax : Math.max(0, due - clock.monotonicMs());
    return measured !== undefined && this.#running.size > 0 ? Math.min(waitMs, measureEveryMs) : waitMs;
  }
}
