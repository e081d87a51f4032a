/** The first wait, and the longest (upstream: 10 s doubling up to `MaxContainerBackOff`). */
const firstMs = 10_000;
const longestMs = 300_000;
/** Whoever went on for longer than this starts at the bottom again. */
const forgottenAfterMs = 2 * longestMs;

interface Rung {
  readonly waitMs: number;
  readonly climbedAtMs: number;
}

/** How long to wait before the next try of something that keeps failing (client-go `flowcontrol.Backoff`, no jitter). */
export class BackoffLadder {
  readonly #rungs = new Map<string, Rung>();

  /** How long a try must wait after a failure at `failedAtMs`; 0 for one that did not fail lately. */
  waitMs(key: string, failedAtMs: number): number {
    const rung = this.#rungs.get(key);
    return rung === undefined || failedAtMs - rung.climbedAtMs > forgottenAfterMs ? 0 : rung.waitMs;
  }

  /** A try is being made: the next one waits twice as long. */
  climb(key: string, failedAtMs: number, nowMs: number): void {
    const waitedMs = this.waitMs(key, failedAtMs);
    const waitMs = waitedMs === 0 ? firstMs : Math.min(2 * waitedMs, longestMs);
    this.#rungs.set(key, { waitMs, climbedAtMs: nowMs });
  }

  /** The wait that was last set, counted from the last step: for tries that fail at once. */
  endsAtMs(key: string, nowMs: number): number | undefined {
    const rung = this.#rungs.get(key);
    if (rung === undefined || nowMs - rung.climbedAtMs > forgottenAfterMs) return undefined;
    const endsAtMs = rung.climbedAtMs + rung.waitMs;
    return nowMs < endsAtMs ? endsAtMs : undefined;
  }

  /** Drops what belongs to keys that begin so. */
  forget(prefix: string): void {
    for (const key of this.#rungs.keys()) if (key.startsWith(prefix)) this.#rungs.delete(key);
  }
}
