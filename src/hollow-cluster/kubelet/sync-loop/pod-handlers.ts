import type { Pod } from '../../../machinery/api/pod.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { PodAdmitter } from '../admission/pod-admitter.ts';
import { podRejected } from '../pod-config/events.ts';
import type { PodLifecycleEvent } from '../pleg/diff-pod-records.ts';
import { hasEnded, isMirrorPod } from '../pod-config/classify-pod.ts';
import type { PodManager } from '../pod-config/pod-manager.ts';
import type { PodUpdate } from '../pod-config/pod-update.ts';
import type { PodConfig } from '../pod-config/pod-config.ts';
import type { PodStatusManager } from '../pod-status/pod-status-manager.ts';
import type { WorkKind } from '../pod-workers/pod-work.ts';
import type { PodWorkers } from '../pod-workers/pod-workers.ts';
import type { PodRuntime } from '../runtime/pod-runtime.ts';
import { hasReadinessGap, selectObservedGeneration } from '../pod-status/build-own-conditions.ts';
import { isPodActive } from './housekeeper.ts';

export interface PodHandlersOptions {
  readonly pods: PodManager;
  readonly workers: Pick<
    PodWorkers,
    'update' | 'isKnown' | 'isTerminated' | 'isTerminationRequested' | 'mayRemoveContent'
  >;
  readonly statuses: Pick<PodStatusManager, 'set' | 'status' | 'noteChange'>;
  readonly admitter: Pick<PodAdmitter, 'admit'>;
  readonly sources: Pick<PodConfig, 'addSource' | 'allReady'>;
  readonly runtime: Pick<PodRuntime, 'pruneContainers'>;
  readonly recorder: EventRecorder;
  readonly logger: Logger;
  /** Called after a change that may require a cleanup. */
  readonly onChange: () => void;
}

/** The sync loop's handlers for changes of pods and containers (kubelet `SyncHandler`). */
export class PodHandlers {
  readonly #options: PodHandlersOptions;

  constructor(options: PodHandlersOptions) {
    this.#options = options;
  }

  /** Handles one update of the mux, and marks its source as received. */
  async dispatch({ op, source, pods }: PodUpdate, signal: AbortSignal): Promise<void> {
    switch (op) {
      case 'ADD':
        await this.#add(pods, signal);
        break;
      case 'UPDATE':
      case 'DELETE':
        for (const pod of pods) this.#update(pod);
        break;
      case 'REMOVE':
        for (const pod of pods) this.#remove(pod);
        break;
      case 'RECONCILE':
        for (const pod of pods) this.#reconcile(pod);
    }
    this.#options.sources.addSource(source);
    this.#options.statuses.noteChange();
    this.#options.onChange();
  }

  /** Handles a container event: syncs its pod, and prunes exited containers. */
  async observe({ uid, type }: PodLifecycleEvent): Promise<void> {
    const { pods, workers, runtime, onChange } = this.#options;
    const pod = pods.podByUid(uid);
    if (pod === undefined) onChange();
    else if (type !== 'ContainerRemoved') this.#work('sync', pod);
    if (type === 'ContainerDied') runtime.pruneContainers(uid, workers.mayRemoveContent(uid) ? 0 : 1);
  }

  /** Syncs these pods if they still exist. */
  sync(uids: readonly string[]): void {
    for (const uid of uids) {
      const pod = this.#options.pods.podByUid(uid);
      if (pod !== undefined) this.#work('sync', pod);
    }
  }

  /** Pods that were admitted and have not terminated. */
  activePods(): readonly Pod[] {
    return [...this.#options.pods.all()].filter((pod) => isPodActive(pod, this.#options));
  }

  /** In order of creation, so that older pods are admitted first. */
  async #add(added: readonly Pod[], signal: AbortSignal): Promise<void> {
    for (const pod of added.toSorted(byCreation)) {
      const others = this.activePods();
      this.#options.pods.add(pod);
      if (isMirrorPod(pod)) this.#workOnMirrored(pod);
      else if (await this.#admit(pod, others, signal)) this.#work('create', pod);
    }
  }

  /** A rejected pod gets its final status and an Event (kubelet `rejectPod`). */
  async #admit(pod: Pod, others: readonly Pod[], signal: AbortSignal): Promise<boolean> {
    const { admitter, workers, recorder, statuses } = this.#options;
    const uid = pod.metadata.uid ?? '';
    if (workers.isTerminationRequested(uid) || hasEnded(pod)) return true;
    const admission = await admitter.admit(
      pod,
      others.filter((other) => other.metadata.uid !== uid),
      signal,
    );
    if (admission.admitted) return true;
    const { reason, message } = admission;
    const { qosClass } = pod.status ?? {};
    recorder.record(podRejected(pod, reason, message));
    statuses.set(pod, {
      ...selectObservedGeneration(pod),
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      ...(qosClass === undefined ? {} : { qosClass }),
    });
    return false;
  }

  /** A rejected pod has no worker, and a change does not start it (kubelet `HandlePodUpdates`). */
  #update(pod: Pod): void {
    const { pods, workers } = this.#options;
    pods.add(pod);
    if (isMirrorPod(pod)) this.#workOnMirrored(pod);
    else if (workers.isKnown(pod.metadata.uid ?? '')) this.#work('update', pod);
  }

  #remove(pod: Pod): void {
    const { pods, sources, workers, logger } = this.#options;
    pods.remove(pod);
    if (isMirrorPod(pod)) this.#workOnMirrored(pod);
    else if (sources.allReady()) workers.update({ kind: 'kill', pod });
    else logger.debug({ pod: pod.metadata.name }, 'pod not killed: not all sources are ready');
  }

  #reconcile(pod: Pod): void {
    const { pods, runtime } = this.#options;
    pods.add(pod);
    if (isMirrorPod(pod)) return;
    if (hasReadinessGap(pod)) this.#work('sync', pod);
    if (pod.status?.phase === 'Failed' && pod.status.reason === 'Evicted') {
      runtime.pruneContainers(pod.metadata.uid ?? '', 0);
    }
  }

  /** A mirror was added, changed or removed: its static pod is synced. */
  #workOnMirrored(mirror: Pod): void {
    const pod = this.#options.pods.podOfMirror(mirror);
    if (pod !== undefined) this.#work('update', pod);
  }

  #work(kind: WorkKind, pod: Pod): void {
    this.#options.workers.update({ kind, pod, mirror: this.#options.pods.mirrorOf(pod) });
  }
}

function byCreation(a: Pod, b: Pod): number {
  const [before, after] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (before === after) return 0;
  return before < after ? -1 : 1;
}
