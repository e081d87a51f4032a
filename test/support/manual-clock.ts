import type { Clock } from '../../src/ports/clock.ts';

interface Sleeper {
  readonly atMs: number;
  readonly order: number;
  wake(): void;
}

/** A clock that moves only when told to. Wall and monotonic time start apart, so that mixing them up shows. */
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

  /** Moves the wall clock alone, as an operator or NTP would. */
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

  /** Time goes on and nobody runs, as in a stopped process; whoever overslept wakes when time moves next. */
  stall(byMs: number): void {
    this.#moveTo(this.#monotonicMs + byMs);
  }

  /** Moves time, waking sleepers in order; promises settle before each step and at the end. */
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

/** One macrotask turn: every promise that can settle without I/O has settled. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
