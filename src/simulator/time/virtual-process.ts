import type { Clock } from '../../machinery/ports/clock.ts';
import { SharedAbortListeners } from '../../machinery/supervision/abort.ts';
import type { Occurrence, Timeline } from './timeline.ts';

/** Monotonic clocks start at different values, and not at wall time, so that a mix-up shows. */
const monotonicStartMs = 10_000;

/** The clock hardware of one machine: it outlives its processes. */
export class VirtualMachine {
  readonly rate: number;
  readonly #timeline: Timeline;
  readonly #wallStartMs: number;
  #wallOffsetMs = 0;
  #suspendedMs = 0;
  #suspendedSinceMs: number | undefined;

  /** `drift` of the process's clocks against virtual time: 1e-4 is 100 ppm. */
  constructor(timeline: Timeline, wallStartMs: number, drift = 0) {
    this.#timeline = timeline;
    this.#wallStartMs = wallStartMs;
    this.rate = 1 + drift;
  }

  /** Steps the wall clock, as an operator or NTP does. */
  stepWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  get isSuspended(): boolean {
    return this.#suspendedSinceMs !== undefined;
  }

  /**
   * Suspends the process: its monotonic clock stops (Linux `CLOCK_MONOTONIC`), its wall clock does not. False if it was
   * suspended already.
   */
  suspend(): boolean {
    if (this.isSuspended) return false;
    this.#suspendedSinceMs = this.#timeline.nowMs;
    return true;
  }

  wakeUp(): void {
    this.#suspendedMs += this.#timeline.nowMs - (this.#suspendedSinceMs ?? this.#timeline.nowMs);
    this.#suspendedSinceMs = undefined;
  }

  /** Without the steps. */
  steadyWallMs(): number {
    return this.wallMs() - this.#wallOffsetMs;
  }

  wallMs(): number {
    return Math.trunc(this.#wallStartMs + this.#timeline.nowMs * this.rate + this.#wallOffsetMs);
  }

  monotonicMs(): number {
    const atMs = this.#suspendedSinceMs ?? this.#timeline.nowMs;
    return monotonicStartMs + (atMs - this.#suspendedMs) * this.rate;
  }
}

/**
 * One process on a machine: its clock and timers, and the gate through which everything reaches it. A paused process
 * receives nothing until it resumes, then everything in the order in which it arrived; a killed one receives nothing ever.
 * Code runs only when something reaches it, so a pause or a kill may happen at any `await`.
 */
export class VirtualProcess implements Clock {
  readonly machine: VirtualMachine;
  /** Abort listeners of everything that waits in this process. */
  readonly abortListeners = new SharedAbortListeners();
  readonly #timeline: Timeline;
  /** Received when the process resumes. */
  #backlog: (() => void)[] = [];
  /** Pauses that have not ended; they may overlap. */
  #pauses = 0;
  #isKilled = false;

  constructor(timeline: Timeline, machine: VirtualMachine) {
    this.#timeline = timeline;
    this.machine = machine;
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  nowMs(): number {
    return this.machine.wallMs();
  }

  monotonicMs(): number {
    return this.machine.monotonicMs();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || ms <= 0) return Promise.resolve();
    const untilMs = this.monotonicMs() + ms;
    return new Promise((resolve) => {
      const wake = (): void => {
        this.abortListeners.remove(signal, wake);
        timer.cancelled = true;
        resolve();
      };
      const ring = (): void => {
        if (timer.cancelled) return;
        // A suspend of the machine stops the clock on which the timer was set.
        const leftMs = untilMs - this.monotonicMs();
        if (leftMs > 0) timer = this.after(leftMs, ring);
        else wake();
      };
      let timer = this.after(ms, ring);
      this.abortListeners.add(signal, wake);
    });
  }

  /** Runs after this time on the process's own clock, unless cancelled. */
  after(ms: number, run: () => void): Occurrence {
    const waitMs = Number.isFinite(ms) ? Math.ceil(ms) / this.machine.rate : Number.MAX_SAFE_INTEGER;
    return this.#timeline.after(waitMs, () => this.arrive(run));
  }

  /** Something reaches the process at this time. */
  arrive(run: () => void): void {
    if (this.#isKilled) return;
    if (this.#pauses === 0) run();
    else this.#backlog.push(run);
  }

  /** SIGSTOP. */
  pause(): void {
    this.#pauses += 1;
  }

  /** SIGCONT: everything that arrived meanwhile is received, each as an occurrence of its own. */
  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses > 0) return;
    const backlog = this.#backlog.splice(0);
    for (const [index, run] of backlog.entries()) {
      this.#timeline.after(index * 1e-6, () => this.arrive(run));
    }
  }

  /** SIGKILL, or power off. */
  kill(): void {
    this.#isKilled = true;
    this.#backlog = [];
  }
}
