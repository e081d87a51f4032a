import type { Pod } from '../../../machinery/api/pod.ts';
import { hasEnded, isTerminating } from '../pod-config/classify-pod.ts';
import type { KillTarget } from '../runtime/pod-runtime.ts';
import type { PodEnd, PodWork, WorkerState } from './pod-work.ts';

/** State of one pod's worker (kubelet `podSyncStatus`). */
export class Worker {
  readonly uid: string;
  readonly fullName: string;
  /** Set for a worker that began with a pod of the runtime that no source has. */
  readonly orphan: KillTarget | undefined;
  state: WorkerState = 'syncing';
  /** True if the pod has been allowed to start: of static pods with one full name only one is. */
  started = false;
  /** True while the step loop runs. */
  working = false;
  deleted = false;
  evicted = false;
  /** A pod with the same uid was added while this one was terminating: it may start again once this one is gone. */
  restartRequested = false;
  /** 0 while unset. */
  graceSeconds = 0;
  ends: PodEnd[] = [];
  doneCallbacks: (() => void)[] = [];
  pending: PodWork | undefined;
  /** The pod of the last work. */
  pod: Pod | undefined;
  step: AbortController | undefined;
  /** End of the last step, monotonic. */
  steppedAtMs = Number.NEGATIVE_INFINITY;

  constructor(uid: string, fullName: string, orphan: KillTarget | undefined) {
    this.uid = uid;
    this.fullName = fullName;
    this.orphan = orphan;
  }

  get isTerminationRequested(): boolean {
    return this.state !== 'syncing';
  }

  get isTerminated(): boolean {
    return this.state === 'terminated' || this.state === 'finished';
  }

  /** Starts termination if the work requires it; true if it was started. */
  beginTermination(work: PodWork): boolean {
    if (work.kill?.evicted === true) this.evicted = true;
    if (isDeletion(work)) this.deleted = true;
    if (this.isTerminationRequested || !isEnd(work)) return false;
    if (work.kind === 'kill' && !this.evicted) this.deleted = true;
    this.state = 'terminating';
    return true;
  }

  /** Applies a kill request. True if the grace period became shorter. */
  takeKill(work: PodWork): boolean {
    const { done, end, graceMs } = work.kill ?? {};
    if (this.state !== 'terminating') {
      done?.();
      return false;
    }
    if (done !== undefined) this.doneCallbacks.push(done);
    if (end !== undefined) this.ends.push(end);
    const before = this.graceSeconds;
    const requestedSeconds = graceMs === undefined ? undefined : graceMs / 1_000;
    this.graceSeconds = decideGraceSeconds(podOf(work) ?? this.pod, before, requestedSeconds);
    return before !== 0 && this.graceSeconds !== before;
  }

  /** Work with its known pod: a pod of the runtime may belong to a pod of this worker. */
  withKnownPod(work: PodWork): PodWork {
    return 'orphan' in work && this.pod !== undefined ? { kind: 'kill', pod: this.pod } : work;
  }

  /** Nothing of the pod runs any more: calls the waiting callbacks. */
  end(): void {
    if (!this.isTerminated) this.state = 'terminated';
    this.ends = [];
    for (const done of this.doneCallbacks.splice(0)) done();
  }
}

/** A pod of the runtime that no source has counts as deleted. */
function isDeletion(work: PodWork): boolean {
  const pod = podOf(work);
  return pod === undefined || isTerminating(pod);
}

function isEnd(work: PodWork): boolean {
  return work.kind === 'kill' || isDeletion(work) || ('pod' in work && hasEnded(work.pod));
}

export function podOf(work: PodWork): Pod | undefined {
  return 'pod' in work ? work.pod : undefined;
}

export function orphanOf(work: PodWork): KillTarget | undefined {
  return 'orphan' in work ? work.orphan : undefined;
}

/** Minimum grace period. */
const graceSecondsMin = 1;

/**
 * The grace period of a pod that is being terminated, in seconds: it can only shrink. `current` is its present grace
 * period, `requested` the new one; 0 means unset (kubelet `calculateEffectiveGracePeriod`).
 */
export function decideGraceSeconds(pod: Pod | undefined, current: number, requested: number | undefined): number {
  const candidates = [current, pod?.metadata.deletionGracePeriodSeconds ?? 0, requested ?? 0].filter(
    (seconds) => seconds > 0,
  );
  const grace = candidates.length === 0 ? (pod?.spec?.terminationGracePeriodSeconds ?? 0) : Math.min(...candidates);
  return Math.max(grace, graceSecondsMin);
}
