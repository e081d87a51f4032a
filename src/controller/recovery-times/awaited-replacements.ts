import type { PodView } from '../../machinery/api/pod.ts';
import type { Change } from '../../machinery/informer/informer.ts';

/** Evicted pods whose replacement is awaited: the oldest is given up first. */
const awaitedMax = 10_000;
/** A pod that comes later is not counted as a replacement. */
const awaitedMs = 3_600_000;

/** A node that is not Ready. */
export interface Fault {
  /** Its last heartbeat, or when its kubelet reported that it is not ready; on the monotonic clock. */
  readonly sinceMs: number;
  readonly cause: string;
  readonly policy: string;
}

/** The fault whose pod is to be replaced, and when that was evicted. */
interface Evicted {
  readonly fault: Fault;
  readonly atMs: number;
}

/**
 * Which new pods replace evicted ones. Pods of one owner and template have equal labels: the hash of a ReplicaSet, the ordinal of a
 * StatefulSet and the index of a Job are among them. So no owner is kept for any pod.
 */
export class AwaitedReplacements {
  readonly #onReplaced: (fault: Fault) => void;
  /** By template, oldest first. */
  readonly #awaited = new Map<string, Evicted[]>();
  /** Templates of the pods (uid) that were created since. */
  readonly #created = new Map<string, string>();
  #count = 0;

  constructor(onReplaced: (fault: Fault) => void) {
    this.#onReplaced = onReplaced;
  }

  /** A pod without labels has no owner that replaces it. */
  await(pod: PodView, fault: Fault, nowMs: number): void {
    const key = templateOf(pod);
    if (key === undefined) return;
    this.#giveUp(nowMs);
    const evicted = this.#awaited.get(key) ?? [];
    this.#awaited.delete(key); // the newest last
    this.#awaited.set(key, evicted);
    evicted.push({ fault, atMs: nowMs });
    this.#count += 1;
  }

  /** Of a change of a pod that was not created since nothing is computed. */
  observe({ kind, object: pod }: Change<PodView>, nowMs: number): void {
    this.#giveUp(nowMs);
    if (this.#awaited.size === 0) return this.#created.clear();
    if (kind === 'added') this.#noteCreated(pod);
    const key = this.#created.get(pod.uid);
    if (key === undefined || (kind !== 'deleted' && !isServing(pod))) return;
    this.#created.delete(pod.uid);
    if (kind !== 'deleted') this.#replace(key, nowMs);
  }

  #noteCreated(pod: PodView): void {
    const key = templateOf(pod);
    if (key !== undefined && this.#awaited.has(key)) this.#created.set(pod.uid, key);
  }

  #replace(key: string, nowMs: number): void {
    const evicted = this.#awaited.get(key);
    const first = evicted?.shift();
    if (first === undefined) return;
    this.#count -= 1;
    if (evicted?.length === 0) this.#awaited.delete(key);
    if (nowMs - first.atMs <= awaitedMs) this.#onReplaced(first.fault);
  }

  /** Number of evicted pods whose replacement is awaited. */
  get size(): number {
    return this.#count;
  }

  /** Templates are in the order in which they were last awaited. */
  #giveUp(nowMs: number): void {
    for (const [key, evicted] of this.#awaited) {
      const newest = evicted.at(-1)?.atMs ?? -Infinity;
      if (this.#count < awaitedMax && nowMs - newest <= awaitedMs) return;
      this.#awaited.delete(key);
      this.#count -= evicted.length;
    }
  }
}

function isServing({ ready, terminating }: PodView): boolean {
  return ready === 'True' && !terminating;
}

function templateOf({ namespace, labels }: PodView): string | undefined {
  const entries = Object.entries(labels ?? {});
  if (entries.length === 0) return undefined;
  return JSON.stringify([namespace, entries.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}
