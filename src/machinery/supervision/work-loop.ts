import type { Clock } from '../ports/clock.ts';
import type { Labels, Meter } from '../ports/meter.ts';
import { backOffAtLeast, type WorkOutcome, type WorkQueue } from '../queueing/work-queue.ts';
import { Alarm } from './alarm.ts';
import {
  longestRunning,
  queueAdds,
  queueDepth,
  queueDuration,
  queueRetries,
  unfinishedWork,
  workDuration,
} from './metrics.ts';

const idleWaitMsMax = 60_000;
/** Maximum age of the gauges while keys are in process. */
const measureEveryMs = 500;
/** Keys processed in a row without yielding to the event loop. */
const keysInARowMax = 256;
const yieldMs = 1;

interface WorkLoopOptions {
  readonly queue: WorkQueue;
  readonly clock: Clock;
  /** Maximum number of keys in process at once. */
  readonly workersMax: number;
  /** Reconciles one key. Failures are outcomes; a thrown error is a bug. */
  readonly handle: (key: string) => Promise<WorkOutcome>;
  /** Called with a thrown error. The key is retried with backoff and does not delay other keys. */
  readonly onFault: (key: string, error: unknown) => void;
  readonly measured?: MeasuredLoop;
  /** Keys processed in a row before yielding to the event loop: below 256 if one key takes long. */
  readonly keysInARow?: number;
}

/** Takes due keys off a work queue and reconciles them, a bounded number at a time. */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #alarm: Alarm;
  readonly #running = new Set<Promise<void>>();
  readonly #measure: LoopMeasure;
  #gaugesUpdatedAtMs = -Infinity;
  #keysInARow = 0;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
    this.#measure = new LoopMeasure(options.measured);
    this.#alarm = new Alarm(options.clock);
  }

  add(key: string, afterMs = 0): void {
    const isNew = this.#options.queue.add(key, this.#options.clock.monotonicMs() + afterMs);
    if (isNew) this.#measure.added();
    this.#alarm.wakeUp();
  }

  /** Runs until the signal aborts, then waits for keys in process. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#startDue();
      if (this.#running.size === 0) this.#keysInARow = 0;
      if (this.#isGaugeUpdateDue()) this.#updateGauges();
      await this.#alarm.wait(this.#waitMs(), signal);
      await this.#yieldIfBusy(signal);
    }
    await Promise.all(this.#running);
    this.#updateGauges();
  }

  /**
   * A key without writes is processed without awaiting anything, and a hundred thousand of them would block the event loop,
   * which would delay lease renewals.
   */
  async #yieldIfBusy(signal: AbortSignal): Promise<void> {
    if (this.#keysInARow < (this.#options.keysInARow ?? keysInARowMax)) return;
    this.#keysInARow = 0;
    await this.#options.clock.sleep(yieldMs, signal);
  }

  /** Processes all due keys, and keys that become due meanwhile, without a running loop. */
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
      this.#keysInARow += 1;
      this.#measure.taken(key, nowMs - dueMs, nowMs);
      const work = this.#work(key).finally(() => this.#running.delete(work));
      this.#running.add(work);
    }
  }

  async #work(key: string): Promise<void> {
    const { queue, clock } = this.#options;
    const outcome = await this.#handle(key);
    this.#measure.done(key, isQueuedBy(outcome), clock.monotonicMs());
    queue.done(key, outcome, clock.monotonicMs());
    this.#alarm.wakeUp();
  }

  async #handle(key: string): Promise<WorkOutcome> {
    const { handle, onFault } = this.#options;
    try {
      return await handle(key);
    } catch (error) {
      onFault(key, error);
      return backOffAtLeast(undefined);
    }
  }

  /** Counting due keys takes time proportional to their number, so it is not done after each key. */
  #isGaugeUpdateDue(): boolean {
    return this.#running.size === 0 || this.#options.clock.monotonicMs() - this.#gaugesUpdatedAtMs >= measureEveryMs;
  }

  #updateGauges(): void {
    const { queue, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#gaugesUpdatedAtMs = nowMs;
    this.#measure.setGauges(queue.countDue(nowMs), nowMs);
  }

  #waitMs(): number {
    const { queue, clock, workersMax, measured } = this.#options;
    const due = this.#running.size < workersMax ? queue.nextDueMs() : undefined;
    const waitMs = due === undefined ? idleWaitMsMax : Math.max(0, due - clock.monotonicMs());
    return measured !== undefined && this.#running.size > 0 ? Math.min(waitMs, measureEveryMs) : waitMs;
  }
}

function isQueuedBy({ next }: WorkOutcome): boolean {
  return next === 'requeue' || next === 'backoff';
}

interface MeasuredLoop {
  /** Value of the `name` label of every metric. */
  readonly name: string;
  readonly meter: Meter;
}

/** Records the metrics of one work loop (client-go `workqueue` metrics). Does nothing without a meter. */
class LoopMeasure {
  readonly #meter: Meter | undefined;
  readonly #labels: Labels;
  readonly #startedAtMs = new Map<string, number>();

  constructor(measured: MeasuredLoop | undefined) {
    this.#meter = measured?.meter;
    this.#labels = { name: measured?.name ?? '' };
    this.setGauges(0, 0);
  }

  added(): void {
    this.#meter?.add(queueAdds, 1, this.#labels);
  }

  /** A worker took the key `waitedMs` after it became due. */
  taken(key: string, waitedMs: number, nowMs: number): void {
    this.#startedAtMs.set(key, nowMs);
    this.#meter?.observe(queueDuration, Math.max(0, waitedMs) / 1_000, this.#labels);
  }

  /** `again`: the key is queued again. */
  done(key: string, again: boolean, nowMs: number): void {
    const tookMs = nowMs - (this.#startedAtMs.get(key) ?? nowMs);
    this.#startedAtMs.delete(key);
    this.#meter?.observe(workDuration, tookMs / 1_000, this.#labels);
    if (!again) return;
    this.#meter?.add(queueRetries, 1, this.#labels);
    this.added();
  }

  /** Sets the gauges. */
  setGauges(depth: number, nowMs: number): void {
    const runningMs = [...this.#startedAtMs.values()].map((startedAtMs) => nowMs - startedAtMs);
    const sumMs = runningMs.reduce((sum, ms) => sum + ms, 0);
    this.#meter?.set(queueDepth, depth, this.#labels);
    this.#meter?.set(unfinishedWork, sumMs / 1_000, this.#labels);
    this.#meter?.set(longestRunning, Math.max(0, ...runningMs) / 1_000, this.#labels);
  }
}
