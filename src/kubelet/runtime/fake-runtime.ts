import type { Clock } from '../../ports/clock.ts';
import { type ContainerRecord, type ContainerPlan, deriveContainerRecord } from './derive-container-record.ts';

/** A container gets at least this long to stop (kubelet `minimumGracePeriodInSeconds`). */
const stopGraceMsMin = 2_000;

export interface FakeRuntimeOptions {
  readonly clock: Clock;
  /** From the start of a pod to its containers running. */
  readonly startDelayMs: number;
  /** From the signal to stop to the exit, unless the grace period ends earlier. */
  readonly stopDelayMs: number;
}

export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
}

/**
 * Containers that are nothing but appointments: when each runs, when it exits. What state one is in follows from the
 * time at which somebody asks, so ten thousand of them need no timer.
 */
export class FakeRuntime {
  readonly #options: FakeRuntimeOptions;
  readonly #pods = new Map<string, ContainerPlan[]>();

  constructor(options: FakeRuntimeOptions) {
    this.#options = options;
  }

  /** Creates and starts a pod's containers. A pod that is known already stays as it is. */
  startPod(uid: string, containers: readonly ContainerSpec[]): void {
    if (this.#pods.has(uid)) return;
    const { clock, startDelayMs } = this.#options;
    const runsAtMs = clock.monotonicMs() + startDelayMs;
    const wallOffsetMs = clock.nowMs() - clock.monotonicMs();
    this.#pods.set(
      uid,
      containers.map((container) => ({ ...container, runsAtMs, exitsAtMs: undefined, exitCode: 0, wallOffsetMs })),
    );
  }

  /**
   * Signals all containers of a pod to stop; those that have not by the end of the grace period are killed. Told again,
   * a pod only ever stops earlier.
   */
  stopPod(uid: string, graceMs: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    const plans = this.#pods.get(uid) ?? [];
    this.#pods.set(
      uid,
      plans.map((plan) => this.#stop(plan, nowMs, Math.max(graceMs, stopGraceMsMin))),
    );
  }

  /** The pod's containers as they are now, in the order of its spec; undefined for a pod that was never started. */
  containers(uid: string): readonly ContainerRecord[] | undefined {
    const nowMs = this.#options.clock.monotonicMs();
    return this.#pods.get(uid)?.map((plan) => deriveContainerRecord(plan, nowMs));
  }

  /** Forgets a pod whose containers have stopped. */
  removePod(uid: string): void {
    this.#pods.delete(uid);
  }

  /**
   * Monotonic time of the first start or exit after `sinceMs`; undefined when there is none. It is asked with the time
   * of the last look: what happened since then is past already, and nobody has seen it.
   */
  nextChangeAtMs(sinceMs: number): number | undefined {
    let earliest: number | undefined;
    for (const plan of [...this.#pods.values()].flat()) {
      for (const atMs of [plan.runsAtMs, plan.exitsAtMs]) {
        if (atMs !== undefined && atMs > sinceMs) earliest = Math.min(earliest ?? atMs, atMs);
      }
    }
    return earliest;
  }

  #stop(plan: ContainerPlan, nowMs: number, graceMs: number): ContainerPlan {
    // One that has not run yet has no process to signal: it is thrown away as it is.
    if (nowMs < plan.runsAtMs) return { ...plan, exitsAtMs: Math.min(plan.exitsAtMs ?? nowMs, nowMs), exitCode: 137 };
    const { stopDelayMs } = this.#options;
    const killed = stopDelayMs > graceMs;
    const exitsAtMs = nowMs + (killed ? graceMs : stopDelayMs);
    if (plan.exitsAtMs !== undefined && plan.exitsAtMs <= exitsAtMs) return plan;
    return { ...plan, exitsAtMs, exitCode: killed ? 137 : 0 };
  }
}
