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

interface Awaited {
  /** Faults whose pods are to be replaced, oldest first, with the time of the eviction. */
  readonly evicted: { readonly fault: Fault; readonly atMs: number }[];
  /** Pods that were created since, by uid. */
  readonly created: Set<string>;
}

/**
 * Which new pods replace evicted ones. Pods of one owner and template have equal labels: the hash of a ReplicaSet, the ordinal of a
 * StatefulSet and the index of a Job are among them. So no owner is kept for any pod.
 */
export class AwaitedReplacements {
  readonly #onReplaced: (fault: Fault) => void;
  readonly #awaited = new Map<string, Awaited>();
  #count = 0;

  constructor(onReplaced: (fault: Fault) => void) {
    this.#onReplaced = onReplaced;
  }

  /** A pod without labels has no owner that replaces it. */
  await(pod: PodView, fault: Fault, nowMs: number): void {
    const key = templateOf(pod);
    if (key === undefined) return;
    this.#giveUp(nowMs);
    const awaited = this.#awaited.get(key) ?? { evicted: [], created: new Set<string>() };
    this.#awaited.delete(key); // the newest last
    this.#awaited.set(key, awaited);
    awaited.evicted.push({ fault, atMs: nowMs });
    this.#count += 1;
  }

  observe(change: Change<PodView>, nowMs: number): void {
    this.#giveUp(nowMs);
    const { object: pod } = change;
    if (!this.#mayConcern(change)) return;
    const key = templateOf(pod);
    const awaited = key === undefined ? undefined : this.#awaited.get(key);
    if (key === undefined || awaited === undefined) return;
    if (change.kind === 'added') awaited.created.add(pod.uid);
    if (change.kind === 'deleted') awaited.created.delete(pod.uid);
    else if (isServing(pod) && awaited.created.delete(pod.uid)) this.#replace(key, awaited, nowMs);
  }

  /** Cheaper than the key of the pod: most changes are of no interest. */
  #mayConcern({ kind, object: { uid } }: Change<PodView>): boolean {
    if (kind !== 'modified') return this.#awaited.size > 0;
    for (const { created } of this.#awaited.values()) if (created.has(uid)) return true;
    return false;
  }

  #replace(key: string, { evicted }: Awaited, nowMs: number): void {
    const first = evicted.shift();
    if (first === undefined) return;
    this.#count -= 1;
    if (evicted.length === 0) this.#awaited.delete(key);
    if (nowMs - first.atMs <= awaitedMs) this.#onReplaced(first.fault);
  }

  /** Number of evicted pods whose replacement is awaited. */
  get size(): number {
    return this.#count;
  }

  /** Templates are in the order in which they were last awaited. */
  #giveUp(nowMs: number): void {
    for (const [key, { evicted }] of this.#awaited) {
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
