import type { Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import { hasEnded, isStaticPod, isTerminating, podFullName } from '../pod-config/classify-pod.ts';
import type { PodConfig } from '../pod-config/pod-config.ts';
import type { PodManager } from '../pod-config/pod-manager.ts';
import type { PodStatusManager } from '../pod-status/pod-status-manager.ts';
import type { KnownWorker, PodWorkers } from '../pod-workers/pod-workers.ts';
import { type PodRuntime, RuntimeFailure, type RuntimePod } from '../runtime/pod-runtime.ts';
import type { MirrorPods } from '../static-pods/mirror-pods.ts';

/** A longer cleanup is logged: the sync loop is blocked meanwhile. */
const cleanMsMax = 1_000;
/** Grace period of running pods that no source has. */
const orphanGraceMs = 1_000;

export interface HousekeeperOptions {
  readonly pods: PodManager;
  readonly workers: PodWorkers;
  readonly statuses: Pick<PodStatusManager, 'status' | 'removeOrphans' | 'noteChange'>;
  readonly mirrors: Pick<MirrorPods, 'delete'>;
  readonly runtime: Pick<PodRuntime, 'listPods' | 'pruneContainers'>;
  readonly sources: Pick<PodConfig, 'allReady'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Reconciles pods, workers, statuses, mirrors and running containers: what only one of them has is terminated or
 * removed (kubelet `HandlePodCleanups`). It has work only after something changed.
 */
export class Housekeeper {
  readonly #options: HousekeeperOptions;
  #dirtySinceMs: number | undefined;
  /** Called when there may be work. */
  onDirty: () => void = () => {};

  constructor(options: HousekeeperOptions) {
    this.#options = options;
    this.#dirtySinceMs = options.clock.monotonicMs();
  }

  /** Notes that there may be something to clean up from now on. */
  readonly note = (): void => {
    if (this.#dirtySinceMs !== undefined) return;
    this.#dirtySinceMs = this.#options.clock.monotonicMs();
    this.onDirty();
  };

  /** Time since which there may be work, monotonic; undefined: there is none. */
  dirtySinceMs(): number | undefined {
    return this.#dirtySinceMs;
  }

  /** One tick. Does nothing until every source has sent its pods: a missing pod may only be late. */
  async tick(signal: AbortSignal): Promise<void> {
    const { sources, clock, logger } = this.#options;
    this.#dirtySinceMs = undefined;
    // The update that makes the last source ready calls note() again.
    if (!sources.allReady()) return;
    const beganAtMs = clock.monotonicMs();
    await this.clean(signal);
    const tookMs = clock.monotonicMs() - beganAtMs;
    if (tookMs > cleanMsMax) logger.warn({ tookMs }, 'housekeeping took longer than expected');
  }

  /** One full cleanup. Never rejects because of an error of the API server or the runtime. */
  async clean(signal: AbortSignal): Promise<void> {
    const { pods, workers, statuses } = this.#options;
    const known = workers.syncKnown({ has: (uid) => pods.podByUid(uid) !== undefined });
    this.#endOrphaned(known);
    const isWanted = (uid: string): boolean => pods.podByUid(uid) !== undefined || pods.mirrorByUid(uid) !== undefined;
    // The mirror of a terminating static pod is deleted after it, and must get its final status.
    const isTerminatingStatic = (uid: string): boolean => {
      const pod = known.get(uid)?.pod;
      return pod !== undefined && isStaticPod(pod);
    };
    statuses.removeOrphans({ has: (uid) => isWanted(uid) || isTerminatingStatic(uid) });
    await this.#deleteOrphanMirrors(signal);
    this.#startMissing();
    await this.#sweepRuntime(signal);
  }

  /** Terminates pods that were removed before every source was ready. */
  #endOrphaned(known: ReadonlyMap<string, KnownWorker>): void {
    for (const { orphaned, state, pod } of known.values()) {
      if (orphaned && state === 'syncing' && pod !== undefined) this.#options.workers.update({ kind: 'kill', pod });
    }
  }

  async #deleteOrphanMirrors(signal: AbortSignal): Promise<void> {
    const { pods, workers, mirrors } = this.#options;
    for (const mirror of pods.orphanMirrors()) {
      if (workers.isTerminatingByName(podFullName(mirror))) continue;
      if (!(await mirrors.delete(mirror, signal))) this.note();
    }
  }

  /**
   * Starts workers for pods whose uid was reused, and for rejected pods that are being deleted and need a final status.
   */
  #startMissing(): void {
    const { pods, workers } = this.#options;
    for (const pod of pods.all()) {
      if (workers.isKnown(pod.metadata.uid ?? '')) continue;
      const work = { pod, mirror: pods.mirrorOf(pod) };
      if (isPodActive(pod, this.#options)) workers.update({ kind: 'create', ...work });
      else if (hasEnded(pod) && isTerminating(pod)) workers.update({ kind: 'kill', ...work });
    }
  }

  async #sweepRuntime(signal: AbortSignal): Promise<void> {
    try {
      for (const pod of await this.#options.runtime.listPods(signal)) this.#sweep(pod);
    } catch (error) {
      if (!(error instanceof RuntimeFailure)) throw error;
      if (!signal.aborted) this.#options.logger.debug({ error: error.message }, 'failed to clean up the runtime');
      this.note();
    }
  }

  #sweep({ uid, namespace, name, containers }: RuntimePod): void {
    const { workers, statuses, runtime } = this.#options;
    if (containers.some(({ state }) => state === 'running')) {
      if (workers.isKnown(uid)) return;
      const orphan = { uid, namespace, name, pod: undefined };
      workers.update({ kind: 'kill', orphan, kill: { graceMs: orphanGraceMs } });
    } else if (workers.mayRemoveContent(uid)) {
      runtime.pruneContainers(uid, 0);
      statuses.noteChange();
    }
  }
}

/** State of pods beyond what the sources have. */
interface PodKnowledge {
  readonly workers: { isTerminated(uid: string): boolean; isTerminationRequested(uid: string): boolean };
  readonly statuses: { status(uid: string): Pod['status'] | undefined };
}

/**
 * True if this pod uses the node or will use it. Rejected and ended pods do not, except while they are terminating
 * (kubelet `filterOutInactivePods`).
 */
export function isPodActive(pod: Pod, { workers, statuses }: PodKnowledge): boolean {
  const uid = pod.metadata.uid ?? '';
  if (workers.isTerminated(uid)) return false;
  const status = statuses.status(uid);
  const ended = hasEnded(pod) || (status !== undefined && hasEnded({ ...pod, status }));
  return !ended || workers.isTerminationRequested(uid);
}
