import type { Clock } from '../../../machinery/ports/clock.ts';
import { planJittered } from '../loops/plan-phase.ts';
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

const retryMs = 10_000;
const networkRetryMs = 1_000;
const jitterShare = 0.5;

/** Part of the message of every failure that is only due to the network (kubelet `NetworkNotReadyErrorMsg`). */
export const networkNotReady = 'network is not ready';

interface StepEnd {
  /** Error message of the step. */
  readonly failure?: string | undefined;
  /** Time until a back-off ends. */
  readonly backoffMs?: number | undefined;
  /** Time until the pod's active deadline, or an earlier change of a probe. */
  readonly deadlineMs?: number | undefined;
  readonly syncFrequencyMs: number;
  /** Uniform in [0, 1). */
  readonly chance: number;
}

/**
 * Delay until the next sync of a pod: short when only the network is missing, longer after other failures, otherwise at
 * its resync or when its back-off ends; in no case after its active deadline (kubelet
 * `podWorkers.completeWork`, `activeDeadlineHandler`).
 */
export function decideRetryDelay({ deadlineMs = Number.POSITIVE_INFINITY, ...end }: StepEnd): number {
  return Math.min(Math.max(deadlineMs, 0), planJittered(decidePeriod(end), jitterShare, end.chance));
}

function decidePeriod({ failure, backoffMs, syncFrequencyMs }: StepEnd): number {
  if (failure?.includes(networkNotReady) === true) return networkRetryMs;
  if (failure !== undefined) return retryMs;
  return Math.min(Math.max(backoffMs ?? syncFrequencyMs, 0), syncFrequencyMs);
}

/** Delay before a static pod checks again whether the pod with the same full name has terminated. */
export function decideStartDelay(chance: number): number {
  return planJittered(retryMs, jitterShare, chance);
}
