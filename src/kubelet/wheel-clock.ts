import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { TimerWheel } from '../queueing/timer-wheel.ts';
import { AbortCircles } from '../supervision/abort-circles.ts';
import { Alarm } from '../supervision/alarm.ts';
import { Lateness } from './lateness.ts';

/** Who wakes together is served together: with ticks of 10 ms a renewal costs the process two thirds more. */
export const wheelTickMs = 100;
/** So many wake in one turn of the event loop, or as many as fit into this time; the others wait for the next. */
const wakesMax = 2_000;
const wakingMsMax = 5;
const yieldMs = 1;
/** Who is woken so much later than was asked for was held up by something that is worth a line in the log. */
const stallMsMin = 500;

export interface WheelClockOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for every sleep that came to its end, with how late it did. */
  readonly onLate?: (ms: number) => void;
}

/**
 * One wheel for all the sleeps of a process, so that tens of thousands of them need one timer. A sleep may be longer than
 * it was to be by a tick of 100 ms, by the time that others take who wake with it, and by whatever holds the process up:
 * the clock knows how late it was.
 */
export class WheelClock implements Clock {
  readonly lateness = new Lateness();
  readonly #options: WheelClockOptions;
  readonly #wheel: TimerWheel;
  readonly #alarm: Alarm;
  readonly #circles = new AbortCircles();
  #isDriven = false;
  #wakesAtMs = Number.POSITIVE_INFINITY;

  constructor(options: WheelClockOptions) {
    this.#options = options;
    this.#wheel = new TimerWheel(wheelTickMs, options.clock.monotonicMs());
    this.#alarm = new Alarm(options.clock);
  }

  /** Sleeps that have not ended. */
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
      const leave = (): void => {
        this.#wheel.remove(timer);
        if (this.#wheel.size === 0) this.#alarm.ring();
        resolve();
      };
      const timer = this.#wheel.add(this.monotonicMs() + ms, () => {
        this.#circles.quit(signal, leave);
        resolve();
      });
      this.#circles.join(signal, leave);
      this.#call(timer.dueMs);
    });
  }

  /** Somebody has to look at the wheel by then. */
  #call(dueMs: number): void {
    if (!this.#isDriven) void this.#drive();
    else if (dueMs < this.#wakesAtMs) this.#alarm.ring();
  }

  /** Runs for as long as anybody sleeps. */
  async #drive(): Promise<void> {
    const { signal } = new AbortController();
    this.#isDriven = true;
    await Promise.resolve();
    while (this.#wheel.size > 0) {
      const nextMs = this.#wheel.nextMs() ?? this.monotonicMs();
      this.#wakesAtMs = nextMs;
      await this.#alarm.wait(nextMs - this.monotonicMs(), signal);
      this.#noteStall(nextMs);
      await this.#wake(signal);
    }
    this.#isDriven = false;
  }

  async #wake(signal: AbortSignal): Promise<void> {
    this.#wheel.advance(this.monotonicMs());
    while (this.#wakeSome()) await this.#options.clock.sleep(yieldMs, signal);
  }

  /** True when some are left that are due. */
  #wakeSome(): boolean {
    const startMs = this.monotonicMs();
    for (let woken = 0; woken < wakesMax; woken += 1) {
      const timer = this.#wheel.take();
      if (timer === undefined) return false;
      const nowMs = this.monotonicMs();
      this.lateness.note(nowMs - timer.dueMs);
      this.#options.onLate?.(nowMs - timer.dueMs);
      timer.wake();
      if (nowMs - startMs > wakingMsMax) return true;
    }
    return true;
  }

  #noteStall(expectedMs: number): void {
    const stalledMs = this.monotonicMs() - expectedMs;
    if (stalledMs < stallMsMin) return;
    this.#options.logger.warn({ stalledMs: Math.round(stalledMs) }, 'the process stood still');
  }
}
