import { findCondition, listConditions } from '../../../machinery/api/conditions.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import { formatAggregate } from '../format-aggregate.ts';
import { SparseMap } from '../queues/sparse-map.ts';
import { isEndPhase, isStaticPod, uidOf } from '../pod-config/classify-pod.ts';
import { buildApiStatus, deadlineMsOf, type PodStatus } from '../pod-status/build-api-status.ts';
import type { MirrorPods } from '../static-pods/mirror-pods.ts';
import type { PodStatusManager } from '../pod-status/pod-status-manager.ts';
import {
  targetOf,
  type KillTarget,
  type PodRuntime,
  RuntimeFailure,
  type RuntimePodStatus,
  type Waiting,
} from '../runtime/pod-runtime.ts';
import { networkNotReady } from './work-queue.ts';
import { failedKillPod, networkNotReadyEvent } from '../pod-config/events.ts';
import {
  type PodEnd,
  type PodSteps,
  StepFailure,
  type SyncStep,
  type SyncStepOutcome,
  type TerminatingStep,
} from './pod-work.ts';

interface PodSyncerOptions {
  readonly runtime: Pick<PodRuntime, 'syncPod' | 'killPod' | 'inspectPod' | 'probe'>;
  readonly statuses: PodStatusManager;
  readonly mirrors: Pick<MirrorPods, 'reconcile'>;
  /** Why pods that need the node's network cannot run now. */
  readonly networkErrors: () => readonly string[];
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  /** The node's addresses, primary first. */
  readonly hostIPs: () => readonly string[];
}

/**
 * The sync steps of a pod: starts it, terminates it, and sets its status (kubelet `SyncPod`, `SyncTerminatingPod`,
 * ...).
 */
export class PodSyncer implements PodSteps {
  readonly #options: PodSyncerOptions;
  /** Why containers wait, as of the last sync of their pod: reported with the next status. */
  readonly #waiting = new SparseMap<string, readonly Waiting[]>();

  constructor(options: PodSyncerOptions) {
    this.#options = options;
  }

  async sync({ pod, mirror, status }: SyncStep, signal: AbortSignal): Promise<SyncStepOutcome> {
    const { runtime, statuses, mirrors } = this.#options;
    const { nextChangeAtMs } = runtime.probe(pod);
    const apiStatus = this.#build(pod, status, false);
    statuses.set(pod, apiStatus);
    if (isEndPhase(apiStatus.phase)) return { terminal: true };
    this.#checkNetwork(pod);
    if (isStaticPod(pod)) await mirrors.reconcile(pod, mirror, signal);
    const { waiting, backoffEndsAtMs, failure } = await runtime.syncPod(pod, status, signal);
    this.#keepWaiting(pod, waiting);
    if (failure !== undefined) throw new StepFailure(failure);
    return {
      terminal: false,
      backoffEndsAtMs,
      deadlineAtMs: earlier(this.#deadlineAtMs(pod), nextChangeAtMs),
    };
  }

  /** Reports that the pod's sandbox is ready while its images are still being pulled (kubelet `OnPodSandboxReady`). */
  noteSandbox(pod: Pod): void {
    const { statuses } = this.#options;
    const apiStatus = statuses.status(uidOf(pod));
    const conditions = listConditions(apiStatus?.conditions);
    const known = findCondition(conditions, 'PodReadyToStartContainers');
    if (apiStatus === undefined || known === undefined || known.status === 'True') return;
    const { reason: _reason, message: _message, ...rest } = known;
    const updated = conditions.map((condition) => (condition === known ? { ...rest, status: 'True' } : condition));
    statuses.set(pod, { ...apiStatus, conditions: updated });
  }

  async terminating({ pod, status, graceMs, ends }: TerminatingStep, signal: AbortSignal): Promise<void> {
    const { statuses } = this.#options;
    statuses.set(pod, ends.reduce(withEnd, this.#build(pod, status, false)));
    await this.#kill(pod, graceMs, signal);
    // The sandbox is gone and with it the addresses; the status keeps them.
    const stopped = { ...(await this.#inspect(pod, signal)), ips: status.ips };
    const running = stopped.containers.filter(({ kind, state }) => kind !== 'sandbox' && state === 'running');
    if (running.length > 0) {
      const names = running.map(({ name }) => name).join(' ');
      throw new StepFailure(`detected running containers after a successful KillPod, CRI violation: [${names}]`);
    }
    statuses.set(pod, this.#build(pod, stopped, true));
  }

  async terminated({ pod, status }: { readonly pod: Pod; readonly status: RuntimePodStatus }): Promise<void> {
    const { statuses } = this.#options;
    statuses.set(pod, this.#build(pod, status, true));
    statuses.terminate(pod);
    this.#waiting.delete(uidOf(pod));
  }

  async orphan(target: KillTarget, graceMs: number, signal: AbortSignal): Promise<void> {
    await this.#options.runtime.killPod(target, graceMs, signal);
  }

  #build(pod: Pod, runtime: RuntimePodStatus, isWorkerTerminal: boolean): PodStatus {
    const { statuses, clock, hostIPs } = this.#options;
    const uid = uidOf(pod);
    return buildApiStatus({
      pod,
      runtime,
      probes: this.#options.runtime.probe(pod),
      previous: statuses.status(uid),
      isWorkerTerminal,
      waiting: this.#waiting.get(uid) ?? [],
      hostIPs: hostIPs(),
      nowMs: clock.nowMs(),
    });
  }

  #checkNetwork(pod: Pod): void {
    const { networkErrors, recorder } = this.#options;
    const errors = networkErrors();
    if (errors.length === 0 || pod.spec?.hostNetwork === true) return;
    const message = `${networkNotReady}: ${formatAggregate(errors)}`;
    recorder.record(networkNotReadyEvent(pod, message));
    throw new StepFailure(message);
  }

  #deadlineAtMs(pod: Pod): number | undefined {
    const { statuses, clock } = this.#options;
    const deadlineMs = deadlineMsOf(pod, statuses.status(uidOf(pod))?.startTime);
    return deadlineMs === undefined ? undefined : deadlineMs - clock.nowMs() + clock.monotonicMs();
  }

  #keepWaiting(pod: Pod, waiting: readonly Waiting[]): void {
    if (waiting.length === 0) this.#waiting.delete(uidOf(pod));
    else this.#waiting.set(uidOf(pod), waiting);
  }

  async #kill(pod: Pod, graceMs: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.runtime.killPod(targetOf(pod), graceMs, signal);
    } catch (error) {
      if (!(error instanceof RuntimeFailure)) throw error;
      if (!signal.aborted) this.#options.recorder.record(failedKillPod(pod, error.message));
      throw error;
    }
    if (signal.aborted) throw new StepFailure('context canceled');
  }

  async #inspect(pod: Pod, signal: AbortSignal): Promise<RuntimePodStatus> {
    try {
      return await this.#options.runtime.inspectPod(uidOf(pod), signal);
    } catch (error) {
      if (!(error instanceof RuntimeFailure)) throw error;
      throw new StepFailure(`unable to read pod status prior to final pod termination: ${error.message}`);
    }
  }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}

/** A pod that has succeeded keeps its phase, whatever the reason of its termination. */
function withEnd(status: PodStatus, { phase, reason, message, condition }: PodEnd): PodStatus {
  const conditions = (status.conditions ?? []).filter(({ type }) => type !== condition?.type);
  return {
    ...status,
    phase: status.phase === 'Succeeded' ? 'Succeeded' : phase,
    reason,
    message,
    ...(condition === undefined ? {} : { conditions: [...conditions, condition] }),
  };
}
