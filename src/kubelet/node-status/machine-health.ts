/** A runtime that has not answered for this long counts as down (kubelet `maxWaitForContainerRuntime`). */
const runtimeSilenceMsMax = 30_000;

/** What the status setters read of the machine at one moment. */
export interface HealthReading {
  /** Why the node is not ready, in the order in which they are told; empty when it is. */
  readonly problems: readonly string[];
  /** Pressure-like conditions and whether they hold. */
  readonly conditions: ReadonlyMap<string, boolean>;
}

/** How the hollow machine is doing: what its runtime last said, and what somebody broke on purpose. */
export class MachineHealth {
  readonly #conditions = new Map<string, boolean>();
  #runtimeCheckedAtMs: number | undefined;
  #fault: string | undefined;

  /** Asks the fake runtime, which always answers. Until the first time the node is not ready (kubelet `updateRuntimeUp`). */
  checkRuntime(nowMs: number): void {
    this.#runtimeCheckedAtMs = nowMs;
  }

  /** From the next status on the node is not ready, for this reason. */
  breakDown(reason: string): void {
    this.#fault = reason;
  }

  repair(): void {
    this.#fault = undefined;
  }

  get isBroken(): boolean {
    return this.#fault !== undefined;
  }

  /** A condition once set is reported for good: the patch never takes one away. */
  setCondition(type: string, holds: boolean): void {
    this.#conditions.set(type, holds);
  }

  /** `nowMs` is monotonic. */
  read(nowMs: number): HealthReading {
    const problems = [this.#runtimeProblem(nowMs), this.#fault].filter((problem) => problem !== undefined);
    return { problems, conditions: this.#conditions };
  }

  #runtimeProblem(nowMs: number): string | undefined {
    if (this.#runtimeCheckedAtMs === undefined) return 'container runtime status check may not have completed yet';
    return nowMs - this.#runtimeCheckedAtMs >= runtimeSilenceMsMax ? 'container runtime is down' : undefined;
  }
}
