import type { Pod } from '../../api/pod.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Logger } from '../../ports/logger.ts';
import type { PodAdmitter } from '../admission/pod-admitter.ts';
import { describeRejection } from '../admission/describe-rejection.ts';
import type { PodLifecycleEvent } from '../pleg/pod-lifecycle-event.ts';
import { hasEnded, isMirrorPod } from '../pod-config/classify-pod.ts';
import type { PodManager } from '../pod-config/pod-manager.ts';
import type { PodUpdate } from '../pod-config/pod-update.ts';
import type { SourcesReady } from '../pod-config/sources-ready.ts';
import type { PodStatusManager } from '../pod-status/pod-status-manager.ts';
import type { WorkKind } from '../pod-workers/pod-work.ts';
import type { PodWorkers } from '../pod-workers/pod-workers.ts';
import type { PodRuntime } from '../runtime/pod-runtime.ts';
import { decideReadinessGap } from './decide-readiness-gap.ts';
import { isPodActive } from './decide-pod-activity.ts';

export interface PodHandlersOptions {
  readonly pods: PodManager;
  readonly workers: Pick<PodWorkers, 'update' | 'isTerminated' | 'isTerminationRequested' | 'mayRemoveContent'>;
  readonly statuses: Pick<PodStatusManager, 'set' | 'status' | 'noteChange'>;
  readonly admitter: Pick<PodAdmitter, 'admit'>;
  readonly sources: Pick<SourcesReady, 'addSource' | 'allReady'>;
  readonly runtime: Pick<PodRuntime, 'pruneContainers'>;
  readonly recorder: EventRecorder;
  readonly logger: Logger;
  /** Something came in after which there may be something to clean up. */
  readonly onChange: () => void;
}

/** What the sync loop does about changes of pods and of what runs (kubelet `SyncHandler`). */
export class PodHandlers {
  readonly #options: PodHandlersOptions;

  constructor(options: PodHandlersOptions) {
    this.#options = options;
  }

  /** Deals with one message of the mux. Whatever was in it, its source has been heard. */
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
        break;
      case 'SET':
        this.#options.logger.error({ source }, 'the sync loop does not support a snapshot update');
    }
    this.#options.sources.addSource(source);
    this.#options.statuses.noteChange();
    this.#options.onChange();
  }

  /** Something happened to a container: its pod is looked at, and what is left of the dead is taken away. */
  async observe({ uid, type }: PodLifecycleEvent): Promise<void> {
    const { pods, workers, runtime, onChange } = this.#options;
    const pod = pods.podByUid(uid);
    if (pod === undefined) onChange();
    else if (type !== 'ContainerRemoved') this.#work('sync', pod);
    if (type === 'ContainerDied') runtime.pruneContainers(uid, workers.mayRemoveContent(uid) ? 0 : 1);
  }

  /** Looks at these pods again, as far as they are still there. */
  sync(uids: readonly string[]): void {
    for (const uid of uids) {
      const pod = this.#options.pods.podByUid(uid);
      if (pod !== undefined) this.#work('sync', pod);
    }
  }

  /** Pods that have been let in and have not ended. */
  activePods(): readonly Pod[] {
    return [...this.#options.pods.all()].filter((pod) => isPodActive(pod, this.#options));
  }

  /** The oldest first: whoever was there before comes in before. */
  async #add(added: readonly Pod[], signal: AbortSignal): Promise<void> {
    for (const pod of added.toSorted(byCreation)) {
      const others = this.activePods();
      this.#options.pods.add(pod);
      if (isMirrorPod(pod)) this.#workOnMirrored(pod);
      else if (await this.#admit(pod, others, signal)) this.#work('create', pod);
    }
  }

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
    const { status, event } = describeRejection(pod, admission);
    recorder.record(event);
    statuses.set(pod, status);
    return false;
  }

  #update(pod: Pod): void {
    this.#options.pods.update(pod);
    if (isMirrorPod(pod)) this.#workOnMirrored(pod);
    else this.#work('update', pod);
  }

  #remove(pod: Pod): void {
    const { pods, sources, workers, logger } = this.#options;
    pods.remove(pod);
    if (isMirrorPod(pod)) this.#workOnMirrored(pod);
    else if (sources.allReady()) workers.update({ kind: 'kill', pod });
    else logger.debug({ pod: pod.metadata.name }, 'a pod is not stopped because not every source has been heard yet');
  }

  #reconcile(pod: Pod): void {
    const { pods, runtime } = this.#options;
    pods.update(pod);
    if (isMirrorPod(pod)) return;
    if (decideReadinessGap(pod)) this.#work('sync', pod);
    if (pod.status?.phase === 'Failed' && pod.status.reason === 'Evicted') {
      runtime.pruneContainers(pod.metadata.uid ?? '', 0);
    }
  }

  /** A mirror came, changed or went: its static pod has to see to it. */
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
