import type { Clock } from '../ports/clock.ts';

const timerMsMax = 2 ** 31 - 1;

/** The system clocks. A sleep longer than a Node.js timer allows is split. */
export class SystemClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const untilMs = this.monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs = untilMs - this.monotonicMs()) {
      await wait(Math.min(leftMs, timerMsMax), signal);
    }
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.ceil(ms));
    signal.addEventListener('abort', wake);
  });
}
