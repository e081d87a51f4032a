import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Logger } from '../../ports/logger.ts';
import { SparseMap } from '../../queueing/sparse-map.ts';
import { deriveNextTick } from '../derive-next-tick.ts';
import { isStaticPod, isTerminating } from '../pod-config/classify-pod.ts';
import type { PodManager } from '../pod-config/pod-manager.ts';
import { RestingLoop, runAlone } from '../resting-loop.ts';
import { decideIllegalTransition } from './decide-transition.ts';
import type { PodStatus } from './derive-api-status.ts';
import { deriveNextStatus } from './derive-next-status.ts';
import { deriveNormalStatus } from './derive-normal-status.ts';
import { isGiven } from './derive-same-meaning.ts';
import { deriveTerminatedStatus } from './derive-terminated-status.ts';
import { agreesWith, type StatusStyle } from './diff-api-status.ts';
import { StatusWriter, type Told } from './status-writer.ts';

/** Statuses that may wait to be written one by one; later ones wait for the full pass (kubelet 1.8 `podStatusChannel`). */
const classicQueueMax = 1_000;

export interface PodStatusManagerOptions {
  readonly api: KubeReader & KubeWriter;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The kubelet's pods and mirrors, as the API server and the other sources show them. */
  readonly pods: PodManager;
  /** `classic`: statuses are queued one by one and written with PUT, and a pod may go when nothing of it runs. */
  readonly style: StatusStyle;
  /** How often everything is looked at again: what failed, and what others wrote over. */
  readonly passPeriodMs: number;
  /** Something of the pod runs, or may be started yet, as far as its worker knows. */
  readonly mayRun: (uid: string) => boolean;
  /** The runtime still has containers of the pod, dead or alive. */
  readonly hasContainers: (uid: string) => boolean;
}

/**
 * Tells the API server how the pods are, one after another, and finishes their deletion. It writes what is newer than
 * what it wrote; a pass every 10 s repeats what failed and puts right what others wrote (kubelet `status.manager`).
 */
export class PodStatusManager extends RestingLoop {
  readonly #options: PodStatusManagerOptions;
  readonly #writer: StatusWriter;
  readonly #told = new SparseMap<string, Told>();
  /** By the uid that the API server knows: the version that it has. */
  readonly #written = new SparseMap<string, number>();
  /** Classic only: what waits to be written, oldest first. */
  readonly #queue: Told[] = [];
  /** Something was told since the last write. */
  #hasNew = false;
  /** A full pass may find something to do. */
  #passDue = false;
  #startedAtMs = 0;
  #passAtMs = Number.POSITIVE_INFINITY;

  constructor(options: PodStatusManagerOptions) {
    super(options.clock);
    this.#options = options;
    const { api, clock, logger, pods, style, mayRun } = options;
    const canBeDeleted = (pod: Pod, told: Told): boolean => this.#canBeDeleted(pod, told);
    this.#writer = new StatusWriter({ api, clock, logger, pods, style, mayRun, canBeDeleted });
  }

  /**
   * Takes note of a pod's status. What says nothing new costs nothing, unless the pod is being deleted; what would bring
   * a container back to life that may not restart is dropped.
   */
  set(pod: Pod, status: PodStatus): void {
    this.#update(pod, status, { force: isTerminating(pod), finished: false });
  }

  /** Nothing of the pod runs, and nothing will: whatever was not seen to end is said to have, and its object may go. */
  terminate(pod: Pod): void {
    const status = this.status(uidOf(pod)) ?? pod.status ?? {};
    const last = deriveTerminatedStatus(pod, status, isStaticPod(pod));
    this.#update(pod, last, { force: true, finished: true });
  }

  /** What was said last of a pod in this kubelet's life; undefined for one nobody spoke of. */
  status(uid: string): PodStatus | undefined {
    return this.#told.get(uid)?.status;
  }

  /** How many statuses of a pod there have been; 0 for one nobody spoke of. */
  version(uid: string): number {
    return this.#told.get(uid)?.version ?? 0;
  }

  /** The API server's picture of a pod may have changed: the next full pass has something to compare. */
  noteChange(): void {
    this.#passDue = true;
    this.ring();
  }

  /** Forgets the pods that are not among these, mirrors' uids included. */
  removeOrphans(known: { has(uid: string): boolean }): void {
    for (const uid of this.#told.keys()) if (!known.has(uid)) this.#forget(uid);
  }

  /** Statuses that the API server has not confirmed yet. Those of static pods without a mirror have nowhere to go. */
  get pending(): number {
    return [...this.#told.values()].filter((told) => {
      const apiUid = this.#options.pods.apiUid(told.uid);
      return apiUid !== '' && this.#needsUpdate(told, apiUid);
    }).length;
  }

  /** Writes what is new as it comes, and looks at everything each period, until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return runAlone(this, signal);
  }

  /** Every pod whose status is newer than what was written, or in the classic style every one that was queued. */
  async writeNew(signal: AbortSignal): Promise<void> {
    const { style, pods } = this.#options;
    this.#hasNew = false;
    const isNew = (told: Told, apiUid: string): boolean => (this.#written.get(apiUid) ?? 0) < told.version;
    const waiting = style === 'classic' ? this.#queue.splice(0) : [...this.#told.values()];
    for (const told of waiting) {
      const apiUid = pods.apiUid(told.uid);
      if (apiUid === '') this.#passDue = true;
      else if (isNew(told, apiUid)) await this.#write(told, apiUid, signal);
    }
  }

  /** The full pass: repeats what failed, corrects what others wrote, deletes what may go. */
  async writeAll(signal: AbortSignal): Promise<void> {
    const { pods } = this.#options;
    this.#passDue = false;
    this.#queue.length = 0;
    for (const apiUid of this.#written.keys()) {
      if (!this.#told.has(apiUid) && pods.mirrorByUid(apiUid) === undefined) this.#written.delete(apiUid);
    }
    for (const told of this.#told.values()) {
      const apiUid = pods.apiUid(told.uid);
      if (apiUid === '') continue;
      if (!this.#needsUpdate(told, apiUid)) {
        if (!this.#needsReconcile(told)) continue;
        this.#written.delete(apiUid);
      }
      await this.#write(told, apiUid, signal);
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
      this.#passAtMs = deriveNextTick(this.#startedAtMs, passPeriodMs, nowMs);
    }
    if (nowMs < this.#passAtMs && !this.#hasNew) return this.#passAtMs - nowMs;
    if (nowMs < this.#passAtMs) await this.writeNew(signal);
    else {
      this.#passAtMs = Number.POSITIVE_INFINITY;
      await this.writeAll(signal);
    }
    return 0;
  }

  #update(pod: Pod, wanted: PodStatus, how: { readonly force: boolean; readonly finished: boolean }): void {
    const { clock, style } = this.#options;
    const known = this.#told.get(uidOf(pod));
    const before = known?.status ?? this.#shownStatus(pod);
    if (!this.#isLegal(pod, before, wanted)) return;
    const status = deriveNextStatus({ pod, before, wanted, style, nowMs: clock.nowMs() });
    if (known !== undefined && !how.force && agreesWith(known.status, status, style)) return;
    this.#store(pod, { status, finished: how.finished || known?.finished === true });
  }

  #isLegal(pod: Pod, before: PodStatus, wanted: PodStatus): boolean {
    const container = decideIllegalTransition(pod, before, wanted);
    if (container === undefined) return true;
    const fields = { pod: pod.metadata.name, container };
    const message = 'a terminated container attempted an illegal transition: the status was dropped';
    this.#options.logger.error(fields, message);
    return false;
  }

  #shownStatus(pod: Pod): PodStatus {
    return this.#shown(pod)?.status ?? {};
  }

  /** The pod as the API server shows it: of a static pod its mirror. */
  #shown(pod: Pod): Pod | undefined {
    return isStaticPod(pod) ? this.#options.pods.mirrorOf(pod) : pod;
  }

  #store(pod: Pod, { status, finished }: Pick<Told, 'status' | 'finished'>): void {
    const { style, logger } = this.#options;
    const uid = uidOf(pod);
    const { namespace = '', name = '' } = pod.metadata;
    const told = { uid, name: { namespace, name }, status, version: this.version(uid) + 1, finished };
    this.#told.set(uid, told);
    if (style === 'classic' && this.#queue.length >= classicQueueMax) {
      this.#passDue = true;
      logger.warn({ pod: name }, 'skipping the status update of a pod because the channel is full');
    } else {
      if (style === 'classic') this.#queue.push(told);
      this.#hasNew = true;
      this.ring();
    }
  }

  /** What came of a write decides what is remembered: a version, nothing, or that the next pass has to look again. */
  async #write(told: Told, apiUid: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const outcome = await this.#writer.write(told, signal);
    if (outcome === 'failed' || outcome === 'not-found') this.#passDue = true;
    if (outcome === 'written' || outcome === 'kept') this.#written.set(apiUid, told.version);
    // It was written; only the deletion has to be repeated.
    if (outcome === 'kept') this.#passDue = true;
    if (outcome === 'replaced' || outcome === 'deleted') this.#forget(told.uid);
  }

  /** Versions begin anew for a uid that comes back. */
  #forget(uid: string): void {
    this.#told.delete(uid);
    this.#written.delete(uid);
  }

  #needsUpdate(told: Told, apiUid: string): boolean {
    if ((this.#written.get(apiUid) ?? 0) < told.version) return true;
    const pod = this.#options.pods.podByUid(told.uid);
    return pod !== undefined && this.#canBeDeleted(pod, told);
  }

  #needsReconcile(told: Told): boolean {
    const { pods, style } = this.#options;
    const pod = pods.podByUid(told.uid);
    const shown = pod === undefined ? undefined : this.#shown(pod);
    if (shown === undefined) return false;
    return !agreesWith(deriveNormalStatus(shown, shown.status ?? {}), told.status, style);
  }

  /** `pod`: as the API server has it. */
  #canBeDeleted(pod: Pod, { uid, status, finished }: Told): boolean {
    const { style, hasContainers } = this.#options;
    if (!isTerminating(pod) || isStaticPod(pod)) return false;
    if (style === 'modern') return finished && (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded');
    return !(status.containerStatuses ?? []).some(({ state }) => isGiven(state?.running)) && !hasContainers(uid);
  }
}

function uidOf(pod: Pod): string {
  return pod.metadata.uid ?? '';
}
