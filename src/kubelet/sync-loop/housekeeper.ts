import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { hasEnded, isStaticPod, isTerminating, podFullName } from '../pod-config/classify-pod.ts';
import type { PodManager } from '../pod-config/pod-manager.ts';
import type { SourcesReady } from '../pod-config/sources-ready.ts';
import type { MirrorPods } from '../pod-status/mirror-pods.ts';
import type { PodStatusManager } from '../pod-status/pod-status-manager.ts';
import type { KnownWorker, PodWorkers } from '../pod-workers/pod-workers.ts';
import { type PodRuntime, RuntimeFailure, type RuntimePod } from '../runtime/pod-runtime.ts';
import { isPodActive } from './decide-pod-activity.ts';

/** A cleaning that takes longer is told of: the loop has done nothing else meanwhile. */
const cleanMsMax = 1_000;
/** What runs and belongs to nobody gets no more. */
const orphanGraceMs = 1_000;

export interface HousekeeperOptions {
  readonly pods: PodManager;
  readonly workers: PodWorkers;
  readonly statuses: Pick<PodStatusManager, 'status' | 'removeOrphans' | 'noteChange'>;
  readonly mirrors: Pick<MirrorPods, 'delete'>;
  readonly runtime: Pick<PodRuntime, 'listPods' | 'pruneContainers'>;
  readonly sources: Pick<SourcesReady, 'allReady'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Brings pods, workers, statuses, mirrors and what runs in line with each other: whatever one of them has and the others
 * do not know of is ended or forgotten (kubelet `HandlePodCleanups`). It has something to do only after something changed.
 */
export class Housekeeper {
  readonly #options: HousekeeperOptions;
  #dirtySinceMs: number | undefined;
  /** Called when there may be something to do. */
  onDirty: () => void = () => {};

  constructor(options: HousekeeperOptions) {
    this.#options = options;
    this.#dirtySinceMs = options.clock.monotonicMs();
  }

  /** There may be something to clean up from now on. */
  readonly note = (): void => {
    if (this.#dirtySinceMs !== undefined) return;
    this.#dirtySinceMs = this.#options.clock.monotonicMs();
    this.onDirty();
  };

  /** Since when there may be something to do, monotonic; undefined: there is nothing. */
  dirtySinceMs(): number | undefined {
    return this.#dirtySinceMs;
  }

  /** One tick. Until every source has been heard nothing is cleaned: what is missing may only be late. */
  async tick(signal: AbortSignal): Promise<void> {
    const { sources, clock, logger } = this.#options;
    this.#dirtySinceMs = undefined;
    // The message that makes the last source ready is a change, and calls again.
    if (!sources.allReady()) return;
    const beganAtMs = clock.monotonicMs();
    await this.clean(signal);
    const tookMs = clock.monotonicMs() - beganAtMs;
    if (tookMs > cleanMsMax) logger.warn({ tookMs }, 'housekeeping took longer than expected');
  }

  /** Does all there is to do now. Never rejects for what the API server or the runtime answers. */
  async clean(signal: AbortSignal): Promise<void> {
    const { pods, workers, statuses } = this.#options;
    const known = workers.syncKnown({ has: (uid) => pods.podByUid(uid) !== undefined });
    this.#endOrphaned(known);
    const isWanted = (uid: string): boolean => pods.podByUid(uid) !== undefined || pods.mirrorByUid(uid) !== undefined;
    statuses.removeOrphans({ has: (uid) => isWanted(uid) || isLeaving(known.get(uid)) });
    await this.#deleteOrphanMirrors(signal);
    this.#startMissing();
    await this.#sweepRuntime(signal);
  }

  /** Their removal came before every source had been heard. */
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

  /** Pods whose uid was used again, and rejected ones that somebody has deleted: their objects wait for a last word. */
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
      if (!signal.aborted) this.#options.logger.debug({ error: error.message }, 'the runtime could not be cleaned up');
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

/** A static pod on its way out: its mirror, which goes after it, is to show how it ended. */
function isLeaving(worker: KnownWorker | undefined): boolean {
  return worker?.pod !== undefined && isStaticPod(worker.pod);
}
