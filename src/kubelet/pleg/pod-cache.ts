import { SparseMap } from '../../queueing/sparse-map.ts';
import { type RuntimePodStatus, RuntimeFailure } from '../runtime/pod-runtime.ts';

/** Who fills a cache, and knows how fresh it is without having looked again. */
export interface CacheFiller {
  /** The last moment for which nothing the cache says was out of date; undefined before the first look. */
  observedAtMs(): number | undefined;
  /** Somebody waits for something newer than there is. */
  wanted(): void;
}

interface Entry {
  readonly found: RuntimePodStatus | RuntimeFailure;
  readonly observedAtMs: number;
}

interface Waiter {
  readonly newerThanMs: number;
  readonly settle: () => void;
}

/**
 * What the runtime said of each pod when it was last inspected (kubelet `container.Cache`). All moments are monotonic.
 * A pod's entry may be newer than the moment up to which the whole cache is known to be true.
 */
export class PodCache {
  readonly #entries = new SparseMap<string, Entry>();
  readonly #waiters = new SparseMap<string, Set<Waiter>>();
  #filler: CacheFiller | undefined;
  #observedAtMs: number | undefined;

  /** Lets the cache ask how fresh it is, and say that somebody waits. */
  fillFrom(filler: CacheFiller): void {
    this.#filler = filler;
  }

  /** A pod the runtime does not know has nothing in it. Throws what its last inspection failed with. */
  get(uid: string): RuntimePodStatus {
    const found = this.#entries.get(uid)?.found ?? emptyStatus(uid);
    if (found instanceof RuntimeFailure) throw found;
    return found;
  }

  /**
   * The pod as it was seen after `atMs`, at once or when it has been. Rejects with a {@link RuntimeFailure}: what that
   * inspection failed with, or that the signal aborted first.
   */
  async newerThan(uid: string, atMs: number, signal: AbortSignal): Promise<RuntimePodStatus> {
    if (signal.aborted) throw new RuntimeFailure('context canceled');
    if (!this.#isNewer(uid, atMs)) await this.#wait(uid, atMs, signal);
    return this.get(uid);
  }

  /** The addresses a pod had when it was last inspected; none where that failed. */
  addresses(uid: string): readonly string[] {
    const found = this.#entries.get(uid)?.found;
    return found === undefined || found instanceof RuntimeFailure ? [] : found.ips;
  }

  /** How many wait for something newer. */
  get waiting(): number {
    let count = 0;
    for (const waiters of this.#waiters.values()) count += waiters.size;
    return count;
  }

  /** Takes in an inspection, or what it failed with; `observedAtMs`: no later than it began. */
  set(uid: string, found: RuntimePodStatus | RuntimeFailure, observedAtMs: number): void {
    this.#entries.set(uid, { found, observedAtMs });
    this.#notify(uid, observedAtMs);
  }

  /** What is in here of this pod, or that nothing is, was still so at `atMs`. */
  observe(uid: string, atMs: number): void {
    const entry = this.#entries.get(uid);
    if (entry !== undefined) this.#entries.set(uid, { ...entry, observedAtMs: atMs });
    this.#notify(uid, atMs);
  }

  /** The runtime has nothing of this pod any more. */
  delete(uid: string): void {
    this.#entries.delete(uid);
  }

  /** Everything in here was true at `atMs`, and what is not in here was not there. */
  advance(atMs: number): void {
    this.#observedAtMs = atMs;
    for (const uid of this.#waiters.keys()) this.#notify(uid, atMs);
  }

  #isNewer(uid: string, atMs: number): boolean {
    const whole = this.#filler?.observedAtMs() ?? this.#observedAtMs;
    if (whole !== undefined && whole > atMs) return true;
    const entry = this.#entries.get(uid);
    return entry !== undefined && entry.observedAtMs > atMs;
  }

  #wait(uid: string, newerThanMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#leave(uid, waiter);
        reject(new RuntimeFailure('context canceled'));
      };
      const settle = (): void => {
        signal.removeEventListener('abort', abort);
        this.#leave(uid, waiter);
        resolve();
      };
      const waiter = { newerThanMs, settle };
      const waiters = this.#waiters.get(uid) ?? new Set();
      this.#waiters.set(uid, waiters.add(waiter));
      signal.addEventListener('abort', abort);
      this.#filler?.wanted();
    });
  }

  #leave(uid: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(uid);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(uid);
  }

  #notify(uid: string, atMs: number): void {
    for (const waiter of this.#waiters.get(uid) ?? []) if (atMs > waiter.newerThanMs) waiter.settle();
  }
}

function emptyStatus(uid: string): RuntimePodStatus {
  return { uid, namespace: '', name: '', ips: [], containers: [] };
}
