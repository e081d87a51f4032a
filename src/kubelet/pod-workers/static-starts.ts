/**
 * Lets one static pod of a name run at a time; the others wait in the order in which they came (kubelet
 * `podWorkers.allowStaticPodStart`).
 */
export class StaticStarts {
  // Most kubelets have no static pods.
  #started: Map<string, string> | undefined;
  #waiting: Map<string, string[]> | undefined;

  /** A pod of this name will ask to start. */
  queue(fullName: string, uid: string): void {
    const waiting = this.#waitingFor(fullName);
    if (!waiting.includes(uid)) this.#put(fullName, [...waiting, uid]);
  }

  /** True from the moment on at which it is this pod's turn. `isOver`: a pod that waits will never start. */
  mayStart(fullName: string, uid: string, isOver: (uid: string) => boolean): boolean {
    const started = this.#started?.get(fullName);
    if (started !== undefined) return started === uid;
    const waiting = this.#waitingFor(fullName).filter((other) => !isOver(other));
    this.#put(fullName, waiting);
    if (waiting.length > 0 && waiting[0] !== uid) return false;
    this.#put(fullName, waiting.slice(1));
    this.#started ??= new Map();
    this.#started.set(fullName, uid);
    return true;
  }

  /** The pod has ended: the next one may start. */
  release(fullName: string, uid: string): void {
    if (this.#started?.get(fullName) === uid) this.#started.delete(fullName);
    this.#put(
      fullName,
      this.#waitingFor(fullName).filter((other) => other !== uid),
    );
  }

  #waitingFor(fullName: string): readonly string[] {
    return this.#waiting?.get(fullName) ?? [];
  }

  #put(fullName: string, waiting: string[]): void {
    if (waiting.length === 0) {
      this.#waiting?.delete(fullName);
      return;
    }
    this.#waiting ??= new Map();
    this.#waiting.set(fullName, waiting);
  }
}
