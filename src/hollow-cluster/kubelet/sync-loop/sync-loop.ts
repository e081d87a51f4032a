import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import { RestingLoop } from '../loops/resting-loop.ts';
import type { LoopInput } from './loop-input.ts';

/** Pause of the loop while the runtime is not ready, initial and maximum. */
const pauseMsMin = 100;
const pauseMsMax = 5_000;
/** The loop counts as stuck after two resync periods, but not before this. */
const stuckMsMin = 300_000;

interface SyncLoopOptions {
  readonly inputs: readonly LoopInput[];
  /** Errors that prevent pods from running; while there are any, the loop is paused. */
  readonly runtimeErrors: () => readonly string[];
  /** Monotonic time at which there were last no errors. */
  readonly healthyAtMs?: () => number | undefined;
  readonly syncFrequencyMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * The kubelet's sync loop: handles one item at a time from several inputs. It picks a random one of the inputs that
 * have an item, so that none starves (kubelet `syncLoop`, `syncLoopIteration`).
 */
export class SyncLoop extends RestingLoop {
  readonly #options: SyncLoopOptions;
  #pauseMs = pauseMsMin;
  #isIdle = false;
  #stampedAtMs: number | undefined;
  #unsubscribes: readonly (() => void)[] = [];

  constructor(options: SyncLoopOptions) {
    super(options.clock);
    this.#options = options;
  }

  /** The problem that the loop's health check reports at this monotonic time; undefined while it is healthy. */
  problem(nowMs: number): string | undefined {
    if (this.#stampedAtMs === undefined) return undefined;
    if (this.#isIdle) this.#stampedAtMs = Math.max(this.#stampedAtMs, this.#healthyAtMs(nowMs));
    const stuckMs = Math.max(2 * this.#options.syncFrequencyMs, stuckMsMin);
    return nowMs - this.#stampedAtMs > stuckMs ? 'sync Loop took longer than expected' : undefined;
  }

  protected override begin(): void {
    const ring = (): void => this.ring();
    this.#unsubscribes = this.#options.inputs.map((input) => input.onReady(ring));
  }

  protected override end(): void {
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
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

  /** An idle loop of a real kubelet updates its timestamp every second while the runtime is healthy. */
  #healthyAtMs(nowMs: number): number {
    const { runtimeErrors, healthyAtMs } = this.#options;
    return runtimeErrors().length === 0 ? nowMs : (healthyAtMs?.() ?? 0);
  }

  /** True if the runtime was not healthy and the loop has paused. */
  async #pause(signal: AbortSignal): Promise<boolean> {
    const { runtimeErrors, clock, logger } = this.#options;
    const errors = runtimeErrors();
    if (errors.length === 0) {
      this.#pauseMs = pauseMsMin;
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
