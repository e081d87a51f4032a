import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Random } from '../../ports/random.ts';
import { RestingLoop, runAlone } from '../resting-loop.ts';
import type { LoopInput } from './loop-input.ts';

/** How long the loop stands still when the runtime is not well, at first and at most; classic kubelets always wait the most. */
const pauseMsMin = 100;
const pauseMsMax = 5_000;
/** The loop counts as stuck after two resyncs, but not before this. */
const stuckMsMin = 300_000;

export interface SyncLoopOptions {
  readonly inputs: readonly LoopInput[];
  /** Why nothing can be run; while there is any reason, nothing is read. */
  readonly runtimeErrors: () => readonly string[];
  /** Monotonic time at which there was last seen to be none, whoever looked. */
  readonly wellAtMs?: () => number | undefined;
  readonly classic: boolean;
  readonly syncFrequencyMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * The heart of a kubelet: takes what comes, one thing at a time, from several sides. Of those that have something it
 * takes any, by chance, so that none can starve the others (kubelet `syncLoop`, `syncLoopIteration`).
 */
export class SyncLoop extends RestingLoop {
  readonly #options: SyncLoopOptions;
  #pauseMs: number;
  #isIdle = false;
  #stampedAtMs: number | undefined;
  #leaves: readonly (() => void)[] = [];

  constructor(options: SyncLoopOptions) {
    super(options.clock);
    this.#options = options;
    this.#pauseMs = this.#firstPauseMs;
  }

  /** Runs until the signal aborts, or one of the inputs has come to its end. */
  run(signal: AbortSignal): Promise<void> {
    return runAlone(this, signal);
  }

  /** What the loop's health check says at this moment (monotonic); undefined while it is alive. */
  problem(nowMs: number): string | undefined {
    if (this.#stampedAtMs === undefined) return undefined;
    if (this.#isIdle) this.#stampedAtMs = Math.max(this.#stampedAtMs, this.#wellAtMs(nowMs));
    const stuckMs = Math.max(2 * this.#options.syncFrequencyMs, stuckMsMin);
    return nowMs - this.#stampedAtMs > stuckMs ? 'sync Loop took longer than expected' : undefined;
  }

  protected override begin(): void {
    const ring = (): void => this.ring();
    this.#leaves = this.#options.inputs.map((input) => input.onReady(ring));
  }

  protected override end(): void {
    for (const leave of this.#leaves) leave();
  }

  get #firstPauseMs(): number {
    return this.#options.classic ? pauseMsMax : pauseMsMin;
  }

  protected override async turn(signal: AbortSignal): Promise<number | 'done'> {
    const { inputs, clock } = this.#options;
    this.#isIdle = false;
    if (inputs.some(({ isDone }) => isDone)) return 'done';
    if (await this.#pause(signal)) return 0;
    const nowMs = clock.monotonicMs();
    this.#stampedAtMs = nowMs;
    const input = this.#choose(nowMs);
    this.#isIdle = input === undefined;
    if (input === undefined) return this.#restMs(nowMs);
    await input.serve(signal);
    this.#stampedAtMs = clock.monotonicMs();
    return 0;
  }

  /** A loop that has nothing to do would have said so every second for as long as the runtime was well. */
  #wellAtMs(nowMs: number): number {
    const { runtimeErrors, wellAtMs } = this.#options;
    return runtimeErrors().length === 0 ? nowMs : (wellAtMs?.() ?? 0);
  }

  /** True when the runtime was not well and the loop has stood still for a while. */
  async #pause(signal: AbortSignal): Promise<boolean> {
    const { runtimeErrors, clock, logger } = this.#options;
    const errors = runtimeErrors();
    if (errors.length === 0) {
      this.#pauseMs = this.#firstPauseMs;
      return false;
    }
    logger.debug({ errors, pauseMs: this.#pauseMs }, 'skipping pod synchronization');
    await clock.sleep(this.#pauseMs, signal);
    this.#pauseMs = Math.min(this.#pauseMs * 2, pauseMsMax);
    return true;
  }

  #choose(nowMs: number): LoopInput | undefined {
    const { inputs, random } = this.#options;
    const ready = inputs.filter((input) => (input.readyAtMs() ?? Number.POSITIVE_INFINITY) <= nowMs);
    return ready[Math.floor(random.next() * ready.length)];
  }

  #restMs(nowMs: number): number {
    const readyAtMs = this.#options.inputs.map((input) => input.readyAtMs()).filter((atMs) => atMs !== undefined);
    return Math.min(...readyAtMs) - nowMs;
  }
}
