import { SparseMap } from '../queues/sparse-map.ts';

/**
 * Allows one static pod per full name to run at a time; the others wait in order of arrival (kubelet
 * `podWorkers.allowStaticPodStart`).
 */
export class StaticStarts {
  readonly #started = new SparseMap<string, string>();
  readonly #waiting = new SparseMap<string, readonly string[]>();

  /** Queues a pod for its full name. */
  queue(fullName: string, uid: string): void {
    const waiting = this.#waiting.get(fullName) ?? [];
    if (!waiting.includes(uid)) this.#waiting.set(fullName, [...waiting, uid]);
  }

  /** True once this pod is first in the queue. `isOver`: a queued pod will never start. */
  mayStart(fullName: string, uid: string, isOver: (uid: string) => boolean): boolean {
    const started = this.#started.get(fullName);
    if (started !== undefined) return started === uid;
    this.#remove(fullName, isOver);
    const [first = uid] = this.#waiting.get(fullName) ?? [];
    if (first !== uid) return false;
    this.#remove(fullName, (other) => other === uid);
    this.#started.set(fullName, uid);
    return true;
  }

  /** The pod has terminated: the next one may start. */
  release(fullName: string, uid: string): void {
    if (this.#started.get(fullName) === uid) this.#started.delete(fullName);
    this.#remove(fullName, (other) => other === uid);
  }

  #remove(fullName: string, isRemoved: (uid: string) => boolean): void {
    const waiting = (this.#waiting.get(fullName) ?? []).filter((uid) => !isRemoved(uid));
    if (waiting.length === 0) this.#waiting.delete(fullName);
    else this.#waiting.set(fullName, waiting);
  }
}
