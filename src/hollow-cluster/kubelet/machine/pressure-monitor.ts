import type { Pod } from '../../../machinery/api/pod.ts';
import { isCriticalPod, uidOf } from '../pod-config/classify-pod.ts';
import { RestingLoop } from '../loops/resting-loop.ts';
import { classifySignal, type PressureType } from './classify-signal.ts';
import { decidePressureAdmission, type PodAdmission } from './decide-pressure-admission.ts';
import {
  describeEviction,
  type EvictionMemory,
  isMet,
  nothingObserved,
  type Observations,
  planEvictionOrder,
  planEvictionPass,
} from './plan-eviction-pass.ts';
import type { EvictionConfig, Threshold } from './parse-thresholds.ts';
import type { FakeMachine } from './fake-machine.ts';
import type { PodKillerOptions } from './pod-termination.ts';
import { podReference } from '../pod-config/describe-pod-event.ts';

/**
 * After an eviction the next pass waits for the pod to be gone, but not longer than this (kubelet `podCleanupTimeout`).
 */
const cleanUpMsMax = 30_000;
const cleanUpPollMs = 1_000;
/** Grace period of a pod that is evicted for a hard threshold (kubelet `immediateEvictionGracePeriodSeconds`). */
const immediateGraceMs = 1_000;

interface PressureMonitorOptions extends PodKillerOptions {
  readonly machine: FakeMachine;
  readonly thresholds: readonly Threshold[];
  readonly config: Pick<
    EvictionConfig,
    'evictionMaxPodGracePeriodMs' | 'evictionMonitoringPeriodMs' | 'evictionPressureTransitionPeriodMs'
  >;
  /** True if nothing is left of the pod on this node. */
  readonly isCleanedUp: (pod: Pod) => boolean;
  /** Hard evictions keep the pod's own grace period, as kubelet v1.8 did. */
  readonly hardKeepsGrace?: boolean;
}

const noConditions: ReadonlySet<PressureType> = new Set();

/**
 * Monitors the available resources of the machine, sets the pressure conditions, and evicts one pod at a time while a
 * resource is short (kubelet eviction manager). Equivalent to a pass every period, but a pass runs only if its result
 * can differ from that of the last one.
 */
export class PressureMonitor extends RestingLoop {
  readonly #options: PressureMonitorOptions;
  #memory: EvictionMemory = nothingObserved;
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
    const { machine, thresholds, config, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const observations = machine.signals.read(nowMs);
    const holdMs = config.evictionPressureTransitionPeriodMs;
    const found = planEvictionPass({ thresholds, memory: this.#memory, observations, nowMs, holdMs });
    this.#memory = found.memory;
    this.#conditions = found.conditions.length === 0 ? noConditions : new Set(found.conditions);
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
    const periodMs = this.#options.config.evictionMonitoringPeriodMs;
    return this.#passedAtMs + Math.max(1, Math.ceil((atMs - this.#passedAtMs) / periodMs)) * periodMs;
  }

  async #relieve(
    pressing: readonly Threshold[],
    observations: Observations,
    signal: AbortSignal,
  ): Promise<Pod | undefined> {
    const [first] = pressing;
    if (first === undefined) return undefined;
    const { resource } = classifySignal(first.signal);
    const { recorder, node, logger, machine, pods } = this.#options;
    const message = `Attempting to reclaim ${resource}`;
    recorder.record({ about: node, type: 'Warning', reason: 'EvictionThresholdMet', message });
    if (this.#reclaim(first)) return undefined;
    const candidates = pods().map((pod) => ({ pod, usage: machine.podUsage(uidOf(pod)) }));
    for (const pod of planEvictionOrder(candidates, resource)) {
      if (isCriticalPod(pod)) continue;
      await this.#evict(pod, { first, pressing, observations, resource }, signal);
      return pod;
    }
    logger.info({ resource }, 'no pod can be evicted');
    return undefined;
  }

  /** Images and dead containers are reclaimed first. True if that was enough. */
  #reclaim({ signal }: Threshold): boolean {
    const { machine, thresholds, clock } = this.#options;
    if (!machine.signals.reclaim(signal)) return false;
    const observations = machine.signals.read(clock.monotonicMs());
    return !thresholds.some((threshold) => isMet(threshold, observations, true));
  }

  async #evict(pod: Pod, cause: EvictionCause, signal: AbortSignal): Promise<void> {
    const { machine, recorder, kill, logger } = this.#options;
    const usage = machine.podUsage(uidOf(pod));
    const { resource, observations, pressing: thresholds } = cause;
    const { message, annotations } = describeEviction({ pod, resource, thresholds, observations, usage });
    recorder.record({ about: podReference(pod), type: 'Warning', reason: 'Evicted', message, annotations });
    try {
      const graceMs = this.#graceMs(pod, cause.first.isHard);
      await kill(pod, { reason: 'Evicted', message, graceMs, evicted: true }, signal);
    } catch (error) {
      const { namespace = '', name = '' } = pod.metadata;
      logger.error({ namespace, pod: name, error: String(error) }, 'failed to kill evicted pod');
    }
  }

  #graceMs(pod: Pod, isHard: boolean): number | undefined {
    const { config, hardKeepsGrace } = this.#options;
    if (isHard) return hardKeepsGrace === true ? undefined : immediateGraceMs;
    const own = pod.spec?.terminationGracePeriodSeconds;
    const max = config.evictionMaxPodGracePeriodMs;
    return own === undefined ? max : Math.min(max, own * 1_000);
  }

  async #waitUntilGone(pod: Pod, signal: AbortSignal): Promise<void> {
    const { clock, isCleanedUp } = this.#options;
    const deadlineMs = clock.monotonicMs() + cleanUpMsMax;
    do {
      await clock.sleep(cleanUpPollMs, signal);
    } while (!signal.aborted && !isCleanedUp(pod) && clock.monotonicMs() < deadlineMs);
  }
}

interface EvictionCause {
  readonly first: Threshold;
  readonly pressing: readonly Threshold[];
  readonly observations: Observations;
  readonly resource: ReturnType<typeof classifySignal>['resource'];
}
