import type { ObjectReference } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Logger } from '../../ports/logger.ts';
import { isCriticalPod } from '../pod-config/classify-pod.ts';
import { RestingLoop, runAlone } from '../resting-loop.ts';
import { classifySignal, type PressureType } from './classify-signal.ts';
import { decidePressureAdmission, type PodAdmission } from './decide-pressure-admission.ts';
import { deriveEvictionOrder } from './derive-eviction-order.ts';
import { deriveEvictionPass, type EvictionMemory, nothingObserved, type Observations } from './derive-eviction-pass.ts';
import { deriveAmount, type EvictionConfig, type Threshold } from './derive-thresholds.ts';
import { describeEviction } from './describe-eviction.ts';
import type { FakeMachine } from './fake-machine.ts';
import { type PodKiller, type PodVerdict, terminationByKubelet } from './pod-verdict.ts';

/** After an eviction the next look waits for the pod to be gone, but not longer than this (kubelet `podCleanupTimeout`). */
const cleanUpMsMax = 30_000;
const cleanUpPollMs = 1_000;
/** What a pod gets that a hard threshold drives out (kubelet `immediateEvictionGracePeriodSeconds`). */
const immediateGraceMs = 1_000;

export interface PressureMonitorOptions {
  readonly machine: FakeMachine;
  readonly thresholds: readonly Threshold[];
  readonly config: Pick<
    EvictionConfig,
    'evictionMaxPodGracePeriodMs' | 'evictionMonitoringPeriodMs' | 'evictionPressureTransitionPeriodMs'
  >;
  /** Whom events about the node are about. */
  readonly node: ObjectReference;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Pods that run, or may. */
  readonly pods: () => readonly Pod[];
  readonly kill: PodKiller;
  /** Nothing is left of the pod on this node. */
  readonly isCleanedUp: (pod: Pod) => boolean;
  /** Hard evictions leave a pod its own grace period, as kubelets of old did. */
  readonly hardKeepsGrace?: boolean;
}

const noConditions: ReadonlySet<PressureType> = new Set();

/**
 * Watches what is left of the machine, says which pressures there are, and evicts one pod at a time where something is
 * short (kubelet eviction manager). As if it looked every period, though it looks only where the outcome can differ from
 * that of the last look.
 */
export class PressureMonitor extends RestingLoop {
  readonly #options: PressureMonitorOptions;
  #memory: EvictionMemory = nothingObserved;
  #conditions = noConditions;
  /** When a held condition ends by itself; undefined: there is none. */
  #dueAtMs: number | undefined;
  #lookedAtMs = 0;
  /** When the next look is due, as far as nobody says that something changed. */
  #lookAtMs = 0;
  #leave: (() => void) | undefined;

  constructor(options: PressureMonitorOptions) {
    super(options.clock);
    this.#options = options;
  }

  /** What the last look found, and what it still holds for. */
  conditions(): ReadonlySet<PressureType> {
    return this.#conditions;
  }

  /** Would this pod be taken in now? */
  admit(pod: Pod): PodAdmission {
    return decidePressureAdmission(pod, [...this.#conditions], isCriticalPod(pod));
  }

  /** Looks at once, then period by period where there is reason to; lives until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return runAlone(this, signal);
  }

  /** One look. Resolves with the pod that was evicted, when nothing of it runs any more. */
  async pass(signal: AbortSignal): Promise<Pod | undefined> {
    const { machine, thresholds, config, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const observations = machine.signals.read(nowMs);
    const holdMs = config.evictionPressureTransitionPeriodMs;
    const found = deriveEvictionPass({ thresholds, memory: this.#memory, observations, nowMs, holdMs });
    this.#memory = found.memory;
    this.#conditions = found.conditions.length === 0 ? noConditions : new Set(found.conditions);
    this.#dueAtMs = found.dueAtMs;
    return this.#relieve(found.pressing, observations, signal);
  }

  protected override begin(): void {
    this.#lookAtMs = 0;
    this.#leave = this.#options.machine.signals.onChange(() => this.ring());
  }

  protected override end(): void {
    this.#leave?.();
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#lookAtMs) {
      // Something changed: that is seen at the next tick.
      this.#lookAtMs = Math.min(this.#lookAtMs, this.#tickFrom(nowMs));
      return this.#lookAtMs - nowMs;
    }
    const evicted = await this.pass(signal);
    this.#lookedAtMs = clock.monotonicMs();
    if (evicted !== undefined) {
      await this.#waitUntilGone(evicted, signal);
      return 0;
    }
    this.#lookAtMs = this.#dueAtMs === undefined ? Number.POSITIVE_INFINITY : this.#tickFrom(this.#dueAtMs);
    return this.#lookAtMs - this.#lookedAtMs;
  }

  /** The first tick at this time or after it, counted from the last look. */
  #tickFrom(atMs: number): number {
    const periodMs = this.#options.config.evictionMonitoringPeriodMs;
    return this.#lookedAtMs + Math.max(1, Math.ceil((atMs - this.#lookedAtMs) / periodMs)) * periodMs;
  }

  async #relieve(
    pressing: readonly Threshold[],
    observations: Observations,
    signal: AbortSignal,
  ): Promise<Pod | undefined> {
    const [first] = pressing;
    if (first === undefined) return undefined;
    const { resource } = classifySignal(first.signal);
    const { recorder, node, logger } = this.#options;
    const message = `Attempting to reclaim ${resource}`;
    recorder.record({ about: node, type: 'Warning', reason: 'EvictionThresholdMet', message });
    if (this.#reclaim(first)) return undefined;
    for (const pod of this.#ranked(resource)) {
      if (isCriticalPod(pod)) continue;
      await this.#evict(pod, { first, pressing, observations, resource }, signal);
      return pod;
    }
    logger.info({ resource }, 'no pod can be evicted');
    return undefined;
  }

  /** Images and dead containers go first. True when that was enough. */
  #reclaim({ signal }: Threshold): boolean {
    const { machine, thresholds, clock } = this.#options;
    if (!machine.signals.reclaim(signal)) return false;
    const observations = machine.signals.read(clock.monotonicMs());
    return !thresholds.some((threshold) => {
      const { available = 0, capacity = 0 } = observations.get(threshold.signal) ?? {};
      const extra = threshold.minReclaim === undefined ? 0 : deriveAmount(threshold.minReclaim, capacity);
      return available < deriveAmount(threshold.limit, capacity) + extra;
    });
  }

  #ranked(resource: ReturnType<typeof classifySignal>['resource']): readonly Pod[] {
    const { machine, pods } = this.#options;
    const candidates = pods().map((pod) => ({ pod, usage: machine.podUsage(pod.metadata.uid ?? '') }));
    return deriveEvictionOrder(candidates, resource);
  }

  async #evict(pod: Pod, cause: EvictionCause, signal: AbortSignal): Promise<void> {
    const { machine, recorder, kill, logger } = this.#options;
    const { uid = '', namespace = '', name = '' } = pod.metadata;
    const usage = machine.podUsage(uid);
    const { resource, observations, pressing: thresholds } = cause;
    const { message, annotations } = describeEviction({ pod, resource, thresholds, observations, usage });
    const about = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
    recorder.record({ about, type: 'Warning', reason: 'Evicted', message, annotations });
    try {
      await kill(pod, this.#verdict(pod, message, cause.first), signal);
    } catch (error) {
      logger.error({ namespace, pod: name, error: String(error) }, 'an evicted pod could not be stopped');
    }
  }

  #verdict(pod: Pod, message: string, { isHard }: Threshold): PodVerdict {
    const condition = { type: 'DisruptionTarget', status: 'True', reason: terminationByKubelet, message };
    return { reason: 'Evicted', message, condition, graceMs: this.#graceMs(pod, isHard), evicted: true };
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
