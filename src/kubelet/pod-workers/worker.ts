import type { Pod } from '../../api/pod.ts';
import { hasEnded, isTerminating } from '../pod-config/classify-pod.ts';
import type { KillTarget } from '../runtime/pod-runtime.ts';
import { deriveGraceSeconds } from './derive-grace.ts';
import type { PodEnd, PodWork, WorkerState } from './pod-work.ts';

/** What is remembered of one pod's worker (kubelet `podSyncStatus`). */
export class Worker {
  readonly uid: string;
  readonly fullName: string;
  /** Set for one that began with what the runtime had, and nobody else knew. */
  readonly orphan: KillTarget | undefined;
  state: WorkerState = 'syncing';
  /** It has been let in: of static pods of one name only one is. */
  started = false;
  /** Its drive runs. */
  working = false;
  deleted = false;
  evicted = false;
  /** A pod with the same uid was added while this one was on its way out: it may begin anew once this one is gone. */
  restartRequested = false;
  /** 0 as long as nothing was said. */
  graceSeconds = 0;
  ends: PodEnd[] = [];
  dones: (() => void)[] = [];
  pending: PodWork | undefined;
  /** The pod as the last work brought it. */
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

  /** Whatever the runtime has under its uid. */
  get mayHaveRun(): boolean {
    return this.started || this.orphan !== undefined;
  }

  /** Does this work call for the pod's end? Then that begins now, and the answer is true. */
  beginTermination(work: PodWork): boolean {
    if (work.kill?.evicted === true) this.evicted = true;
    if (isDeletion(work)) this.deleted = true;
    if (this.isTerminationRequested || !isEnd(work)) return false;
    if (work.kind === 'kill' && !this.evicted) this.deleted = true;
    this.state = 'terminating';
    return true;
  }

  /** Takes in how the pod is to be killed. True when its grace became shorter than it was. */
  takeKill(work: PodWork): boolean {
    const { done, end, graceMs } = work.kill ?? {};
    if (this.state !== 'terminating') {
      done?.();
      return false;
    }
    if (done !== undefined) this.dones.push(done);
    if (end !== undefined) this.ends.push(end);
    const before = this.graceSeconds;
    const asked = graceMs === undefined ? undefined : graceMs / 1_000;
    this.graceSeconds = deriveGraceSeconds(podOf(work) ?? this.pod, before, asked);
    return before !== 0 && this.graceSeconds !== before;
  }

  /** The same work with all that is known of its pod: what the runtime has may belong to one that we know. */
  named(work: PodWork): PodWork {
    return 'orphan' in work && this.pod !== undefined ? { kind: 'kill', pod: this.pod } : work;
  }

  take(work: PodWork): void {
    this.pod = podOf(work) ?? this.pod;
  }

  /** Nothing of the pod runs any more: whoever waits for that hears of it. */
  end(): void {
    if (!this.isTerminated) this.state = 'terminated';
    this.ends = [];
    for (const done of this.dones.splice(0)) done();
  }
}

/** What the runtime has and nobody knows counts as deleted. */
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
