import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { PodRuntime, RuntimeCondition, RuntimeConditions } from '../runtime/pod-runtime.ts';
import { RestingLoop, runAlone } from '../resting-loop.ts';
import { untilSettledOrAborted } from '../until-settled-or-aborted.ts';

/** A runtime that has not answered for this long counts as down (kubelet `maxWaitForContainerRuntime`). */
const runtimeSilenceMsMax = 30_000;

const notChecked = 'container runtime status check may not have completed yet';
/** Upstream `ErrNetworkUnknown`. */
const networkUnknown = 'network state unknown';
/** Of a kubelet whose node object is not there yet, and so neither is what belongs to it. */
const storageNotReady = 'CSINode is not yet initialized';

/** Something that has to work for the runtime to count as healthy, as PLEG; its name is told before the problem. */
export interface HealthCheck {
  readonly name: string;
  /** Undefined while all is well. `nowMs` is monotonic. */
  problem(nowMs: number): string | undefined;
}

/** What the kubelet asks of its runtime here. `onChange` has to call back when the conditions may have changed. */
export type RuntimeUnderCheck = Pick<PodRuntime, 'conditions' | 'onChange'>;

export interface RuntimeStateOptions {
  readonly runtime: RuntimeUnderCheck;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly checkPeriodMs: number;
  readonly healthChecks?: readonly HealthCheck[];
  /** False for a kubelet that knows nothing of storage plugins. */
  readonly awaitsStorage?: boolean;
}

/**
 * What the kubelet knows of its container runtime (kubelet `runtimeState`, `updateRuntimeUp`). As if it asked every
 * period, though a runtime that answered well is asked again only after it said that something changed: until then every
 * answer would be the same.
 */
export class RuntimeState extends RestingLoop {
  readonly #options: RuntimeStateOptions;
  #wasUp = false;
  /** While somebody waits for it. */
  #up: PromiseWithResolvers<void> | undefined;
  /** Set while nothing can have changed since: the checks of the grid that begins here all went well. */
  #steadySinceMs: number | undefined;
  #syncedAtMs: number | undefined;
  #runtimeError: string | undefined;
  #networkError: string | undefined = networkUnknown;
  #storageError: string | undefined;
  #checking: Promise<void> | undefined;
  #checkedAtMs = 0;
  /** When the next check is due, as far as nobody says that something changed. */
  #checkAtMs = 0;
  #wellAtMs: number | undefined;
  #leave: (() => void) | undefined;

  constructor(options: RuntimeStateOptions) {
    super(options.clock);
    this.#options = options;
    this.#storageError = options.awaitsStorage === true ? storageNotReady : undefined;
  }

  /** Checks at once and then for as long as it takes; lives until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return runAlone(this, signal);
  }

  /** Asks the runtime once, out of turn. Who asks while somebody else does gets the same answer. */
  check(signal: AbortSignal): Promise<void> {
    this.#checking ??= this.#ask(signal).finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Resolves when the runtime has once said that it is ready, or when the signal aborts. */
  whenUp(signal: AbortSignal): Promise<void> {
    if (this.#wasUp) return Promise.resolve();
    this.#up ??= Promise.withResolvers();
    return untilSettledOrAborted(this.#up.promise, signal);
  }

  /** The storage plugins have what they need: the node object. */
  setStorageReady(): void {
    this.#storageError = undefined;
  }

  /** Why no pods can be run, each as it is told in the node's Ready condition; empty when they can. */
  runtimeErrors(): readonly string[] {
    const { clock, healthChecks = [] } = this.#options;
    const nowMs = clock.monotonicMs();
    const checks = healthChecks.map((check) => withName(check.name, check.problem(nowMs)));
    const errors = [this.#silence(nowMs), ...checks, this.#runtimeError].filter((error) => error !== undefined);
    if (errors.length === 0) this.#wellAtMs = nowMs;
    return errors;
  }

  /** Monotonic time at which it was last seen that pods can be run: now, or when somebody last asked. */
  wellAtMs(): number | undefined {
    this.runtimeErrors();
    return this.#wellAtMs;
  }

  networkErrors(): readonly string[] {
    return this.#networkError === undefined ? [] : [this.#networkError];
  }

  storageErrors(): readonly string[] {
    return this.#storageError === undefined ? [] : [this.#storageError];
  }

  protected override begin(): void {
    this.#checkAtMs = 0;
    this.#leave = this.#options.runtime.onChange(() => this.#unsettle());
  }

  protected override end(): void {
    this.#leave?.();
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    const { clock, checkPeriodMs } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#checkAtMs) {
      // Something changed: that is seen at the next tick.
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

  /** From here on the answers may differ: the check of the last tick was the last that is known to have gone well. */
  #unsettle(): void {
    this.#syncedAtMs = this.#lastSyncAtMs(this.#options.clock.monotonicMs());
    this.#steadySinceMs = undefined;
    this.ring();
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { runtime, logger } = this.#options;
    try {
      this.#learn(await runtime.conditions(signal));
    } catch (error) {
      this.#unsettle();
      if (!signal.aborted) logger.debug({ error: String(error) }, 'the container runtime does not answer');
    }
  }

  #learn({ runtime, network }: RuntimeConditions): void {
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
  const said =
    condition === undefined ? 'nil' : `${type}=false reason:${condition.reason} message:${condition.message}`;
  return `${what} not ready: ${said}`;
}

function withName(name: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${name} is not healthy: ${problem}`;
}

function lastTick(fromMs: number, nowMs: number, periodMs: number): number {
  return fromMs + Math.floor((nowMs - fromMs) / periodMs) * periodMs;
}
