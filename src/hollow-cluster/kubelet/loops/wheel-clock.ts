import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import { TimerWheel } from '../queues/timer-wheel.ts';
import { SharedAbortListeners } from '../../../machinery/supervision/abort.ts';
import { Alarm } from '../../../machinery/supervision/alarm.ts';
import { Lateness } from './lateness.ts';

/** Resolution of the wheel: sleeps in one tick wake together. With 10 ms a renewal costs two thirds more CPU time. */
export const wheelTickMs = 100;
/** Limits of wakes in one turn of the event loop, by number and by time; the others wait for the next turn. */
const wakesMax = 2_000;
const wakingMsMax = 5;
const yieldMs = 1;
/** A wake that is later than this is logged as a stall of the process. */
const stallMsMin = 500;

interface WheelClockOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called at the end of every sleep with its lateness. */
  readonly onLate?: (ms: number) => void;
}

/**
 * One timer wheel for all sleeps of a process, so that tens of thousands of them need one timer. A sleep may be longer
 * than requested by a tick of 100 ms, by the time that other wakes take, and by stalls of the process: the clock
 * records the lateness.
 */
export class WheelClock implements Clock {
  readonly lateness = new Lateness();
  readonly #options: WheelClockOptions;
  readonly #wheel: TimerWheel;
  readonly #alarm: Alarm;
  readonly #abortListeners = new SharedAbortListeners();
  #isDriven = false;
  #wakesAtMs = Number.POSITIVE_INFINITY;

  constructor(options: WheelClockOptions) {
    this.#options = options;
    this.#wheel = new TimerWheel(wheelTickMs, options.clock.monotonicMs());
    this.#alarm = new Alarm(options.clock);
  }

  /** Number of pending sleeps. */
  get sleeping(): number {
    return this.#wheel.size;
  }

  nowMs(): number {
    return this.#options.clock.nowMs();
  }

  monotonicMs(): number {
    return this.#options.clock.monotonicMs();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#wheel.remove(timer);
        if (this.#wheel.size === 0) this.#alarm.wakeUp();
        resolve();
      };
      const timer = this.#wheel.add(this.monotonicMs() + ms, () => {
        this.#abortListeners.remove(signal, onAbort);
        resolve();
      });
      this.#abortListeners.add(signal, onAbort);
      this.#call(timer.dueMs);
    });
  }

  /** Makes sure that the wheel advances at this time. */
  #call(dueMs: number): void {
    if (!this.#isDriven) void this.#drive();
    else if (dueMs < this.#wakesAtMs) this.#alarm.wakeUp();
  }

  /** Runs while there are sleeps. */
  async #drive(): Promise<void> {
    const { signal } = new AbortController();
    this.#isDriven = true;
    await Promise.resolve();
    while (this.#wheel.size > 0) {
      const nextMs = this.#wheel.nextMs() ?? this.monotonicMs();
      this.#wakesAtMs = nextMs;
      await this.#alarm.wait(nextMs - this.monotonicMs(), signal);
      this.#noteStall(nextMs);
      while (this.#wakeSome()) await this.#options.clock.sleep(yieldMs, signal);
    }
    this.#isDriven = false;
  }

  /** True if more timers are due. */
  #wakeSome(): boolean {
    const startMs = this.monotonicMs();
    let woken = 0;
    for (const timer of this.#wheel.takeDue(startMs)) {
      const nowMs = this.monotonicMs();
      this.lateness.note(nowMs - timer.dueMs);
      this.#options.onLate?.(nowMs - timer.dueMs);
      timer.wake();
      woken += 1;
      if (woken === wakesMax || nowMs - startMs > wakingMsMax) return true;
    }
    return false;
  }

  #noteStall(expectedMs: number): void {
    const stalledMs = this.monotonicMs() - expectedMs;
    if (stalledMs < stallMsMin) return;
    this.#options.logger.warn({ stalledMs: Math.round(stalledMs) }, 'event loop stalled');
  }
}
