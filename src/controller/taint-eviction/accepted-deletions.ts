import { podKey, type PodView } from '../../machinery/api/pod.ts';

/**
 * A pod that does not terminate within this time after its accepted deletion was not deleted, also if no complete state was
 * read since: etcd was restored from a backup.
 */
const acceptedMsMax = 300_000;

/** A deletion that the API server has accepted. */
interface Accepted {
  readonly uid: string;
  readonly atMs: number;
  /** The cache has shown that the pod terminates: if it no longer does, etcd was restored from a backup. */
  isSeen: boolean;
}

/** The deletions that the API server has accepted and that the cache does not show completed: it may be behind. */
export class AcceptedDeletions {
  /** Accepted deletions, by the key of the pod. */
  readonly #accepted = new Map<string, Accepted>();
  readonly #listSentAtMs: () => number | undefined;

  /** `listSentAtMs`: when the complete state in the cache was requested; undefined: it may be older than its request. */
  constructor(listSentAtMs: () => number | undefined = () => undefined) {
    this.#listSentAtMs = listSentAtMs;
  }

  get count(): number {
    return this.#accepted.size;
  }

  /** Remembers the deletion of this pod, accepted at this time of the monotonic clock. */
  add(pod: PodView, atMs: number): void {
    this.#accepted.set(podKey(pod), { uid: pod.uid, atMs, isSeen: false });
  }

  forget(key: string): void {
    this.#accepted.delete(key);
  }

  /** Whether a pod is being deleted, also if the cache does not show it yet; `nowMs` is of the monotonic clock. */
  isUnderWay(pod: PodView, nowMs: number): boolean {
    const accepted = this.#accepted.get(podKey(pod));
    return accepted !== undefined && this.#goesOn(pod, accepted, nowMs);
  }

  /** Forgets the deletions that are completed, or never took place: one entry per step. */
  *sweep(find: (key: string) => PodView | undefined, nowMs: () => number): Generator<undefined, void> {
    for (const [key, accepted] of this.#accepted) {
      const pod = find(key);
      if (pod === undefined || !this.#goesOn(pod, accepted, nowMs())) this.#accepted.delete(key);
      yield;
    }
  }

  #goesOn(pod: PodView, accepted: Accepted, nowMs: number): boolean {
    if (pod.uid !== accepted.uid) return false;
    accepted.isSeen ||= pod.terminating;
    if (pod.terminating || accepted.isSeen) return pod.terminating;
    const isInCache = (this.#listSentAtMs() ?? -Infinity) > accepted.atMs;
    return !isInCache && nowMs - accepted.atMs < acceptedMsMax;
  }
}
