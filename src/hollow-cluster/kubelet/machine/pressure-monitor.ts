import type { Pod } from '../../../machinery/api/pod.ts';
import { isCriticalPod } from '../pod-config/classify-pod.ts';
import { podReference } from '../pod-config/describe-pod-event.ts';
import { RestingLoop } from '../loops/resting-loop.ts';
import { decidePressureAdmission, type PodAdmission } from './decide-pressure-admission.ts';
import type { FakeMachine } from './fake-machine.ts';
import {
  describeEviction,
  type HeldConditions,
  type Observations,
  planEvictionOrder,
  planEvictionPass,
  type PressureType,
  type Threshold,
} from './plan-eviction-pass.ts';
import type { PodKillerOptions } from './pod-termination.ts';

/** A condition is reported for this long after it was last true (kubelet `evictionPressureTransitionPeriod`). */
const holdMs = 300_000;
/** Period of the passes (kubelet `evictionMonitoringPeriod`). */
const passPeriodMs = 10_000;
/**
 * After an eviction the next pass waits for the pod to be gone, but not longer than this (kubelet `podCleanupTimeout`).
 */
const cleanUpMsMax = 30_000;
const cleanUpPollMs = 1_000;
/** Grace period of an evicted pod (kubelet `immediateEvictionGracePeriodSeconds`). */
const immediateGraceMs = 1_000;

interface PressureMonitorOptions extends PodKillerOptions {
  readonly machine: FakeMachine;
  /** True if nothing is left of the pod on this node. */
  readonly isCleanedUp: (pod: Pod) => boolean;
}

const noConditions: ReadonlySet<PressureType> = new Set();

/**
 * Monitors the available resources of the machine, sets the pressure conditions, and evicts one pod at a time while a
 * resource is short (kubelet eviction manager). Equivalent to a pass every period, but a pass runs only if its result
 * can differ from that of the last one.
 */
export class PressureMonitor extends RestingLoop {
  readonly #options: PressureMonitorOptions;
  #held: HeldConditions = new Map();
  #conditions = noConditions;
  /** When a held condition ends by itself; undefined: there is none. */
  #dueAtMs: number | undefined;
  #passedAtMs = 0;
  /** When the next pass is due unless a signal changes. */
  #nextPassAtMs = 0;
  #unsubscribe: (() => void) | undefined;

  constructor(options: PressureMonitorOptions) {
    super(options.clock);
    this.#options = options;
  }

  /** The conditions that the last pass observed or still holds. */
  conditions(): ReadonlySet<PressureType> {
    return this.#conditions;
  }

  /** Admits or rejects a pod under the current conditions. */
  admit(pod: Pod): PodAdmission {
    return decidePressureAdmission(pod, [...this.#conditions], isCriticalPod(pod));
  }

  /** One pass. Resolves with the pod that was evicted, when nothing of it runs any more. */
  async pass(signal: AbortSignal): Promise<Pod | undefined> {
    const { machine, clock } = this.#options;
    const observations = machine.signals.read();
    const found = planEvictionPass({ held: this.#held, observations, nowMs: clock.monotonicMs(), holdMs });
    this.#held = found.held;
    this.#conditions = found.held.size === 0 ? noConditions : new Set(found.held.keys());
    this.#dueAtMs = found.dueAtMs;
    return this.#relieve(found.pressing, observations, signal);
  }

  protected override begin(): void {
    this.#nextPassAtMs = 0;
    this.#unsubscribe = this.#options.machine.signals.onChange(() => this.ring());
  }

  protected override end(): void {
    this.#unsubscribe?.();
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#nextPassAtMs) {
      // A signal changed: it is evaluated at the next tick.
      this.#nextPassAtMs = Math.min(this.#nextPassAtMs, this.#tickFrom(nowMs));
      return this.#nextPassAtMs - nowMs;
    }
    const evicted = await this.pass(signal);
    this.#passedAtMs = clock.monotonicMs();
    if (evicted !== undefined) {
      await this.#waitUntilGone(evicted, signal);
      return 0;
    }
    this.#nextPassAtMs = this.#dueAtMs === undefined ? Number.POSITIVE_INFINITY : this.#tickFrom(this.#dueAtMs);
    return this.#nextPassAtMs - this.#passedAtMs;
  }

  /** The first tick at or after this time, counted from the last pass. */
  #tickFrom(atMs: number): number {
    return this.#passedAtMs + Math.max(1, Math.ceil((atMs - this.#passedAtMs) / passPeriodMs)) * passPeriodMs;
  }

  async #relieve(
    [first]: readonly Threshold[],
    observations: Observations,
    signal: AbortSignal,
  ): Promise<Pod | undefined> {
    if (first === undefined) return undefined;
    const { recorder, node, logger, pods } = this.#options;
    const { resource } = first;
    const message = `Attempting to reclaim ${resource}`;
    recorder.record({ about: node, type: 'Warning', reason: 'EvictionThresholdMet', message });
    const pod = planEvictionOrder(pods(), resource).find((candidate) => !isCriticalPod(candidate));
    if (pod === undefined) logger.info({ resource }, 'no pod can be evicted');
    else await this.#evict(pod, describeEviction(first, observations), signal);
    return pod;
  }

  async #evict(pod: Pod, message: string, signal: AbortSignal): Promise<void> {
    const { recorder, kill, logger } = this.#options;
    recorder.record({ about: podReference(pod), type: 'Warning', reason: 'Evicted', message });
    try {
      await kill(pod, { reason: 'Evicted', message, graceMs: immediateGraceMs, evicted: true }, signal);
    } catch (error) {
      const { namespace = '', name = '' } = pod.metadata;
      logger.error({ namespace, pod: name, error: String(error) }, 'failed to kill evicted pod');
    }
  }

  async #waitUntilGone(pod: Pod, signal: AbortSignal): Promise<void> {
    const { clock, isCleanedUp } = this.#options;
    const deadlineMs = clock.monotonicMs() + cleanUpMsMax;
    do {
      await clock.sleep(cleanUpPollMs, signal);
    } while (!signal.aborted && !isCleanedUp(pod) && clock.monotonicMs() < deadlineMs);
  }
}
