import type { Clock } from '../../../machinery/ports/clock.ts';
import { SparseMap } from '../queues/sparse-map.ts';

/** When each pod is due for its next sync; one entry per pod, the last one set wins (kubelet `queue.WorkQueue`). */
export class PodWorkQueue {
  readonly #clock: Clock;
  readonly #dueAtMs = new SparseMap<string, number>();
  readonly #onEarlier: () => void;
  #nextMs = Number.POSITIVE_INFINITY;

  /** `onEarlier` is called when a new entry is due before all others. */
  constructor(clock: Clock, onEarlier: () => void) {
    this.#clock = clock;
    this.#onEarlier = onEarlier;
  }

  enqueue(uid: string, delayMs: number): void {
    const dueAtMs = this.#clock.monotonicMs() + delayMs;
    this.#dueAtMs.set(uid, dueAtMs);
    if (dueAtMs >= this.#nextMs) return;
    this.#nextMs = dueAtMs;
    this.#onEarlier();
  }

  forget(uid: string): void {
    this.#dueAtMs.delete(uid);
  }

  /** Earliest possible due time; undefined if the queue is empty. */
  get nextDueAtMs(): number | undefined {
    return this.#dueAtMs.size === 0 ? undefined : this.#nextMs;
  }

  /** Removes and returns the pods that are due. */
  takeDue(): readonly string[] {
    const nowMs = this.#clock.monotonicMs();
    const due: string[] = [];
    this.#nextMs = Number.POSITIVE_INFINITY;
    for (const [uid, dueAtMs] of this.#dueAtMs) {
      if (dueAtMs < nowMs) due.push(uid);
      else this.#nextMs = Math.min(this.#nextMs, dueAtMs);
    }
    for (const uid of due) this.#dueAtMs.delete(uid);
    return due;
  }
}
