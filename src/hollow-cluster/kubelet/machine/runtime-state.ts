import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { PodRuntime, RuntimeCondition, RuntimeConditions } from '../runtime/pod-runtime.ts';
import { RestingLoop } from '../loops/resting-loop.ts';
import { untilSettledOrAborted } from '../../../machinery/supervision/abort.ts';

/** A runtime that has not answered for this long counts as down (kubelet `maxWaitForContainerRuntime`). */
const runtimeSilenceMsMax = 30_000;

const notChecked = 'container runtime status check may not have completed yet';
/** Upstream `ErrNetworkUnknown`. */
const networkUnknown = 'network state unknown';
/** While the node object, and with it the CSINode, does not exist yet. */
const storageNotReady = 'CSINode is not yet initialized';

/**
 * A check that must pass for the runtime to count as healthy, such as PLEG; its name precedes the problem in messages.
 */
export interface HealthCheck {
  readonly name: string;
  /** Undefined while healthy. `nowMs` is monotonic. */
  problem(nowMs: number): string | undefined;
}

/** The part of the runtime that is checked. `onChange` must call back when the conditions may have changed. */
export type RuntimeUnderCheck = Pick<PodRuntime, 'conditions' | 'onChange'>;

interface RuntimeStateOptions {
  readonly runtime: RuntimeUnderCheck;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly checkPeriodMs: number;
  readonly healthChecks?: readonly HealthCheck[] | undefined;
  /** False for a kubelet without storage plugins. */
  readonly awaitsStorage?: boolean;
}

/**
 * State of the container runtime (kubelet `runtimeState`, `updateRuntimeUp`). Equivalent to a check every period, but
 * after a successful check the next one runs only when the runtime reports a change: until then the result would be the
 * same.
 */
export class RuntimeState extends RestingLoop {
  readonly #options: RuntimeStateOptions;
  #wasUp = false;
  /** Set while a caller waits for it. */
  #up: PromiseWithResolvers<void> | undefined;
  /** Set while nothing can have changed: all checks of the grid that begins here succeeded. */
  #steadySinceMs: number | undefined;
  #syncedAtMs: number | undefined;
  #runtimeError: string | undefined;
  #networkError: string | undefined = networkUnknown;
  #storageError: string | undefined;
  #checking: Promise<void> | undefined;
  #checkedAtMs = 0;
  /** When the next check is due unless the runtime reports a change. */
  #checkAtMs = 0;
  #healthyAtMs: number | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(options: RuntimeStateOptions) {
    super(options.clock);
    this.#options = options;
    this.#storageError = options.awaitsStorage === true ? storageNotReady : undefined;
  }

  /** Runs one check outside the period. Concurrent callers share the same result. */
  check(signal: AbortSignal): Promise<void> {
    this.#checking ??= this.#update(signal).finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Resolves when the runtime was ready once, or when the signal aborts. */
  whenUp(signal: AbortSignal): Promise<void> {
    if (this.#wasUp) return Promise.resolve();
    this.#up ??= Promise.withResolvers();
    return untilSettledOrAborted(this.#up.promise, signal);
  }

  /** The Node object exists, as the storage plugins require. */
  setStorageReady(): void {
    this.#storageError = undefined;
  }

  /**
   * The errors that prevent pods from running, as reported in the node's Ready condition; empty when there are none.
   */
  runtimeErrors(): readonly string[] {
    const { clock, healthChecks = [] } = this.#options;
    const nowMs = clock.monotonicMs();
    const checks = healthChecks.flatMap((check) => {
      const problem = check.problem(nowMs);
      return problem === undefined ? [] : [`${check.name} is not healthy: ${problem}`];
    });
    const errors = [this.#silence(nowMs), ...checks, this.#runtimeError].filter((error) => error !== undefined);
    if (errors.length === 0) this.#healthyAtMs = nowMs;
    return errors;
  }

  /** Monotonic time at which the runtime was last found healthy: now, or at the last call. */
  healthyAtMs(): number | undefined {
    this.runtimeErrors();
    return this.#healthyAtMs;
  }

  networkErrors(): readonly string[] {
    return this.#networkError === undefined ? [] : [this.#networkError];
  }

  storageErrors(): readonly string[] {
    return this.#storageError === undefined ? [] : [this.#storageError];
  }

  protected override begin(): void {
    this.#checkAtMs = 0;
    this.#unsubscribe = this.#options.runtime.onChange(() => this.#unsettle());
  }

  protected override end(): void {
    this.#unsubscribe?.();
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    const { clock, checkPeriodMs } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#checkAtMs) {
      // The runtime changed: it is checked at the next tick.
      this.#checkAtMs = Math.min(this.#checkAtMs, lastTick(this.#checkedAtMs, nowMs, checkPeriodMs) + checkPeriodMs);
      return this.#checkAtMs - nowMs;
    }
    await this.check(signal);
    this.#checkedAtMs = clock.monotonicMs();
    const isSteady = this.#steadySinceMs !== undefined;
    this.#checkAtMs = isSteady ? Number.POSITIVE_INFINITY : this.#checkedAtMs + checkPeriodMs;
    return this.#checkAtMs - this.#checkedAtMs;
  }

  #silence(nowMs: number): string | undefined {
    const syncedAtMs = this.#lastSyncAtMs(nowMs);
    if (syncedAtMs === undefined) return notChecked;
    return nowMs - syncedAtMs >= runtimeSilenceMsMax ? 'container runtime is down' : undefined;
  }

  #lastSyncAtMs(nowMs: number): number | undefined {
    const since = this.#steadySinceMs;
    return since === undefined ? this.#syncedAtMs : lastTick(since, nowMs, this.#options.checkPeriodMs);
  }

  /** From here on the results may differ: the check of the last tick is the last that is known to have succeeded. */
  #unsettle(): void {
    this.#syncedAtMs = this.#lastSyncAtMs(this.#options.clock.monotonicMs());
    this.#steadySinceMs = undefined;
    this.ring();
  }

  async #update(signal: AbortSignal): Promise<void> {
    const { runtime, logger } = this.#options;
    try {
      this.#apply(await runtime.conditions(signal));
    } catch (error) {
      this.#unsettle();
      if (!signal.aborted) logger.debug({ error: String(error) }, 'container runtime status check failed');
    }
  }

  #apply({ runtime, network }: RuntimeConditions): void {
    this.#networkError = problemOf('container runtime network', 'NetworkReady', network);
    this.#runtimeError = problemOf('container runtime', 'RuntimeReady', runtime);
    if (this.#runtimeError !== undefined) {
      this.#unsettle();
      return;
    }
    this.#steadySinceMs = this.#options.clock.monotonicMs();
    this.#wasUp = true;
    this.#up?.resolve();
    this.#up = undefined;
  }
}

function problemOf(what: string, type: string, condition: RuntimeCondition | undefined): string | undefined {
  if (condition?.ok === true) return undefined;
  const state =
    condition === undefined ? 'nil' : `${type}=false reason:${condition.reason} message:${condition.message}`;
  return `${what} not ready: ${state}`;
}

function lastTick(fromMs: number, nowMs: number, periodMs: number): number {
  return fromMs + Math.floor((nowMs - fromMs) / periodMs) * periodMs;
}
