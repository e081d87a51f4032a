/** The first delay and the maximum (upstream: 10 s doubling up to `MaxContainerBackOff`). */
const firstMs = 10_000;
const longestMs = 300_000;
/** After this time without a failure the delay starts at the minimum again. */
const forgottenAfterMs = 2 * longestMs;

interface BackoffEntry {
  readonly waitMs: number;
  readonly updatedAtMs: number;
}

/** Delay before the next try of an operation that keeps failing (client-go `flowcontrol.Backoff`, without jitter). */
export class CrashLoopBackoff {
  readonly #entries = new Map<string, BackoffEntry>();

  /** Delay of a try after a failure at `failedAtMs`; 0 without a recent failure. */
  waitMs(key: string, failedAtMs: number): number {
    const entry = this.#entries.get(key);
    return entry === undefined || failedAtMs - entry.updatedAtMs > forgottenAfterMs ? 0 : entry.waitMs;
  }

  /** Records a try: doubles the next delay. */
  next(key: string, failedAtMs: number, nowMs: number): void {
    const waitedMs = this.waitMs(key, failedAtMs);
    const waitMs = waitedMs === 0 ? firstMs : Math.min(2 * waitedMs, longestMs);
    this.#entries.set(key, { waitMs, updatedAtMs: nowMs });
  }

  /** End of the current delay, counted from the last try: for tries that fail at once. */
  endsAtMs(key: string, nowMs: number): number | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || nowMs - entry.updatedAtMs > forgottenAfterMs) return undefined;
    const endsAtMs = entry.updatedAtMs + entry.waitMs;
    return nowMs < endsAtMs ? endsAtMs : undefined;
  }

  /** Removes all keys with this prefix. */
  forget(prefix: string): void {
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.#entries.delete(key);
  }
}
