import type { Clock } from '../../src/machinery/ports/clock.ts';

interface Sleeper {
  readonly atMs: number;
  readonly order: number;
  wake(): void;
}

/** A manually advanced clock. Wall and monotonic time have different origins, so that a mix-up shows. */
export class ManualClock implements Clock {
  #monotonicMs = 10_000;
  #wallMs: number;
  #order = 0;
  readonly #sleepers = new Set<Sleeper>();

  constructor(startWallMs = Date.parse('2026-01-02T03:04:05Z')) {
    this.#wallMs = startWallMs;
  }

  nowMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** Steps only the wall clock, as an operator or NTP does. */
  jumpWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper: Sleeper = { atMs: this.#monotonicMs + ms, order: this.#order++, wake };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', wake);
    });
  }

  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Advances time without running timers, as in a stopped process; overdue sleepers wake at the next advance. */
  stall(byMs: number): void {
    this.#moveTo(this.#monotonicMs + byMs);
  }

  /** Advances time, waking sleepers in order; promises settle before each step and at the end. */
  async advance(byMs: number): Promise<void> {
    const targetMs = this.#monotonicMs + byMs;
    for (;;) {
      await settled();
      const next = this.#earliest();
      if (next === undefined || next.atMs > targetMs) break;
      this.#moveTo(Math.max(next.atMs, this.#monotonicMs));
      next.wake();
    }
    this.#moveTo(targetMs);
    await settled();
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  #earliest(): Sleeper | undefined {
    let best: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (
        best === undefined ||
        sleeper.atMs < best.atMs ||
        (sleeper.atMs === best.atMs && sleeper.order < best.order)
      ) {
        best = sleeper;
      }
    }
    return best;
  }
}

/** One macrotask: every promise that can settle without I/O has settled. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
