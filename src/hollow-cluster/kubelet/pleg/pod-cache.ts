import { SparseMap } from '../queues/sparse-map.ts';
import { type RuntimePodStatus, RuntimeFailure } from '../runtime/pod-runtime.ts';

/** The component that fills a cache, and reports how current it is without another relist. */
export interface CacheFiller {
  /** The last time at which the whole cache was up to date; undefined before the first relist. */
  observedAtMs(): number | undefined;
  /** A caller waits for a newer entry. */
  wanted(): void;
}

interface CachedStatus {
  readonly found: RuntimePodStatus | RuntimeFailure;
  readonly observedAtMs: number;
}

interface Waiter {
  readonly newerThanMs: number;
  readonly settle: () => void;
}

/**
 * Status of each pod as of its last inspection (kubelet `container.Cache`). All times are monotonic. A pod's entry may
 * be newer than the time up to which the whole cache is up to date.
 */
export class PodCache {
  readonly #entries = new SparseMap<string, CachedStatus>();
  readonly #waiters = new SparseMap<string, Set<Waiter>>();
  #filler: CacheFiller | undefined;
  #observedAtMs: number | undefined;

  /** Sets the component that reports the cache's age and that is notified of waiting callers. */
  fillFrom(filler: CacheFiller): void {
    this.#filler = filler;
  }

  /** An unknown pod has an empty status. Throws the error of the pod's last inspection, if it failed. */
  get(uid: string): RuntimePodStatus {
    const found = this.#entries.get(uid)?.found ?? emptyStatus(uid);
    if (found instanceof RuntimeFailure) throw found;
    return found;
  }

  /**
   * The pod's status as of a time after `atMs`, as soon as it is available. Rejects with a {@link RuntimeFailure}: the
   * error of that inspection, or cancellation if the signal aborted first.
   */
  async newerThan(uid: string, atMs: number, signal: AbortSignal): Promise<RuntimePodStatus> {
    if (signal.aborted) throw new RuntimeFailure('context canceled');
    if (!this.#isNewer(uid, atMs)) await this.#wait(uid, atMs, signal);
    return this.get(uid);
  }

  /** The addresses a pod had at its last inspection; none if that failed. */
  addresses(uid: string): readonly string[] {
    const found = this.#entries.get(uid)?.found;
    return found === undefined || found instanceof RuntimeFailure ? [] : found.ips;
  }

  /** Number of callers that wait for a newer entry. */
  get waiting(): number {
    let count = 0;
    for (const waiters of this.#waiters.values()) count += waiters.size;
    return count;
  }

  /** Stores the result or the error of an inspection; `observedAtMs`: no later than its start. */
  set(uid: string, found: RuntimePodStatus | RuntimeFailure, observedAtMs: number): void {
    this.#entries.set(uid, { found, observedAtMs });
    this.#notify(uid, observedAtMs);
  }

  /** The entry of this pod, or its absence, was still valid at `atMs`. */
  observe(uid: string, atMs: number): void {
    const entry = this.#entries.get(uid);
    if (entry !== undefined) this.#entries.set(uid, { ...entry, observedAtMs: atMs });
    this.#notify(uid, atMs);
  }

  /** The runtime has nothing of this pod any more. */
  delete(uid: string): void {
    this.#entries.delete(uid);
  }

  /** All entries, and the absence of others, were valid at `atMs`. */
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
        this.#unsubscribe(uid, waiter);
        reject(new RuntimeFailure('context canceled'));
      };
      const settle = (): void => {
        signal.removeEventListener('abort', abort);
        this.#unsubscribe(uid, waiter);
        resolve();
      };
      const waiter = { newerThanMs, settle };
      const waiters = this.#waiters.get(uid) ?? new Set();
      this.#waiters.set(uid, waiters.add(waiter));
      signal.addEventListener('abort', abort);
      this.#filler?.wanted();
    });
  }

  #unsubscribe(uid: string, waiter: Waiter): void {
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
