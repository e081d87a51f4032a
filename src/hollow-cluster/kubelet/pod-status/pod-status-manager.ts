import type { Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { NodeApi } from '../network/fault-injecting-client.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import { SparseMap } from '../queues/sparse-map.ts';
import { planNextTick } from '../loops/plan-phase.ts';
import { isEndPhase, isStaticPod, isTerminating, uidOf } from '../pod-config/classify-pod.ts';
import type { PodManager } from '../pod-config/pod-manager.ts';
import { RestingLoop } from '../loops/resting-loop.ts';
import type { PodStatus } from './build-api-status.ts';
import {
  buildNextStatus,
  buildNormalStatus,
  buildTerminatedStatus,
  decideIllegalTransition,
} from './build-next-status.ts';
import { agreesWith } from './diff-api-status.ts';
import { StatusWriter, type VersionedStatus } from './status-writer.ts';

export interface PodStatusManagerOptions {
  readonly api: NodeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The kubelet's pods and mirrors, as the API server and the other sources deliver them. */
  readonly pods: PodManager;
  /** Period of the full pass, which repeats failed writes and corrects changes by other clients. */
  readonly passPeriodMs: number;
  /** The pod worker's state: something of the pod runs or may still be started. */
  readonly mayRun: (uid: string) => boolean;
}

/**
 * Writes the pods' statuses to the API server, one after another, and completes their deletion. A status is written
 * when it is newer than the written one; a pass every 10 s repeats failed writes and corrects changes by other clients
 * (kubelet `status.manager`).
 */
export class PodStatusManager extends RestingLoop {
  readonly #options: PodStatusManagerOptions;
  readonly #writer: StatusWriter;
  readonly #statuses = new SparseMap<string, VersionedStatus>();
  /** The written version, by uid on the API server. */
  readonly #written = new SparseMap<string, number>();
  /** A status was set since the last write. */
  #hasNew = false;
  /** A full pass may have work to do. */
  #passDue = false;
  #startedAtMs = 0;
  #passAtMs = Number.POSITIVE_INFINITY;

  constructor(options: PodStatusManagerOptions) {
    super(options.clock);
    this.#options = options;
    const { api, clock, logger, pods, mayRun } = options;
    const canBeDeleted = (pod: Pod, versioned: VersionedStatus): boolean => this.#canBeDeleted(pod, versioned);
    this.#writer = new StatusWriter({ api, clock, logger, pods, mayRun, canBeDeleted });
  }

  /**
   * Sets a pod's status. An unchanged status is ignored, unless the pod is being deleted; a status in which a
   * terminated container that must not restart is no longer terminated is dropped.
   */
  set(pod: Pod, status: PodStatus): void {
    this.#update(pod, status, false);
  }

  /**
   * Nothing of the pod runs or will run: containers without an observed end are marked terminated, and its object may
   * be deleted.
   */
  terminate(pod: Pod): void {
    const status = this.status(uidOf(pod)) ?? pod.status ?? {};
    const last = buildTerminatedStatus(pod, status, isStaticPod(pod));
    this.#update(pod, last, true);
  }

  /** The last status of a pod in this kubelet run; undefined if none was set. */
  status(uid: string): PodStatus | undefined {
    return this.#statuses.get(uid)?.status;
  }

  /** Number of statuses that were set for a pod; 0 if none. */
  version(uid: string): number {
    return this.#statuses.get(uid)?.version ?? 0;
  }

  /** The pod on the API server may have changed: the next full pass compares it. */
  noteChange(): void {
    this.#passDue = true;
    this.ring();
  }

  /** Forgets the pods that are not among these; the uids include mirrors. */
  removeOrphans(known: { has(uid: string): boolean }): void {
    for (const uid of this.#statuses.keys()) if (!known.has(uid)) this.#forget(uid);
  }

  /** Number of statuses that the API server has not confirmed yet, without static pods that have no mirror. */
  get pending(): number {
    return [...this.#statuses.values()].filter((versioned) => {
      const apiUid = this.#options.pods.apiUid(versioned.uid);
      return apiUid !== '' && this.#needsUpdate(versioned, apiUid);
    }).length;
  }

  /** Writes every pod whose status is newer than the written one. */
  async writeNew(signal: AbortSignal): Promise<void> {
    const { pods } = this.#options;
    this.#hasNew = false;
    const isNew = (versioned: VersionedStatus, apiUid: string): boolean =>
      (this.#written.get(apiUid) ?? 0) < versioned.version;
    for (const versioned of this.#statuses.values()) {
      const apiUid = pods.apiUid(versioned.uid);
      if (apiUid === '') this.#passDue = true;
      else if (isNew(versioned, apiUid)) await this.#write(versioned, apiUid, signal);
    }
  }

  /** The full pass: repeats failed writes, corrects changes by other clients, deletes finished pods. */
  async writeAll(signal: AbortSignal): Promise<void> {
    const { pods } = this.#options;
    this.#passDue = false;
    for (const apiUid of this.#written.keys()) {
      if (!this.#statuses.has(apiUid) && pods.mirrorByUid(apiUid) === undefined) this.#written.delete(apiUid);
    }
    for (const versioned of this.#statuses.values()) {
      const apiUid = pods.apiUid(versioned.uid);
      if (apiUid === '') continue;
      if (!this.#needsUpdate(versioned, apiUid)) {
        if (!this.#needsReconcile(versioned)) continue;
        this.#written.delete(apiUid);
      }
      await this.#write(versioned, apiUid, signal);
    }
  }

  protected override begin(): void {
    this.#startedAtMs = this.#options.clock.monotonicMs();
    this.#passAtMs = Number.POSITIVE_INFINITY;
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    const { clock, passPeriodMs } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#passDue && this.#passAtMs === Number.POSITIVE_INFINITY) {
      this.#passAtMs = planNextTick(this.#startedAtMs, passPeriodMs, nowMs);
    }
    if (nowMs < this.#passAtMs && !this.#hasNew) return this.#passAtMs - nowMs;
    if (nowMs < this.#passAtMs) await this.writeNew(signal);
    else {
      this.#passAtMs = Number.POSITIVE_INFINITY;
      await this.writeAll(signal);
    }
    return 0;
  }

  #update(pod: Pod, wanted: PodStatus, finished: boolean): void {
    const known = this.#statuses.get(uidOf(pod));
    const before = known?.status ?? this.#shown(pod)?.status ?? {};
    if (!this.#isLegal(pod, before, wanted)) return;
    const status = buildNextStatus({ pod, before, wanted, nowMs: this.#options.clock.nowMs() });
    const isForced = finished || isTerminating(pod);
    if (known === undefined || isForced || !agreesWith(known.status, status)) this.#store(pod, status, finished);
  }

  #store(pod: Pod, status: PodStatus, finished: boolean): void {
    const uid = uidOf(pod);
    const { namespace = '', name = '' } = pod.metadata;
    const { version: last = 0, finished: wasFinished = false } = this.#statuses.get(uid) ?? {};
    const versioned = { uid, name: { namespace, name }, status, version: last + 1, finished: finished || wasFinished };
    this.#statuses.set(uid, versioned);
    this.#hasNew = true;
    this.ring();
  }

  #isLegal(pod: Pod, before: PodStatus, wanted: PodStatus): boolean {
    const container = decideIllegalTransition(pod, before, wanted);
    if (container === undefined) return true;
    const fields = { pod: pod.metadata.name, container };
    const message = 'terminated container attempted illegal transition; status dropped';
    this.#options.logger.error(fields, message);
    return false;
  }

  /** The pod as the API server has it: for a static pod its mirror. */
  #shown(pod: Pod): Pod | undefined {
    return isStaticPod(pod) ? this.#options.pods.mirrorOf(pod) : pod;
  }

  /** Updates the written version by the outcome, and schedules a full pass if the write must be repeated. */
  async #write(versioned: VersionedStatus, apiUid: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const outcome = await this.#writer.write(versioned, signal);
    if (outcome === 'failed' || outcome === 'not-found') this.#passDue = true;
    if (outcome === 'written' || outcome === 'kept') this.#written.set(apiUid, versioned.version);
    // The status was written; only the deletion has to be repeated.
    if (outcome === 'kept') this.#passDue = true;
    if (outcome === 'replaced' || outcome === 'deleted') this.#forget(versioned.uid);
  }

  /** Versions start again for a uid that is set again. */
  #forget(uid: string): void {
    this.#statuses.delete(uid);
    this.#written.delete(uid);
  }

  #needsUpdate(versioned: VersionedStatus, apiUid: string): boolean {
    if ((this.#written.get(apiUid) ?? 0) < versioned.version) return true;
    const pod = this.#options.pods.podByUid(versioned.uid);
    return pod !== undefined && this.#canBeDeleted(pod, versioned);
  }

  #needsReconcile(versioned: VersionedStatus): boolean {
    const pod = this.#options.pods.podByUid(versioned.uid);
    const shown = pod === undefined ? undefined : this.#shown(pod);
    if (shown === undefined) return false;
    return !agreesWith(buildNormalStatus(shown, shown.status ?? {}), versioned.status);
  }

  /** `pod`: as the API server has it. */
  #canBeDeleted(pod: Pod, { finished }: VersionedStatus): boolean {
    return isTerminating(pod) && !isStaticPod(pod) && finished && isEndPhase(pod.status?.phase);
  }
}
