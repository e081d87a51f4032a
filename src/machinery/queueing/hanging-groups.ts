const hangsFromMs = 5_000;
/** It is remembered for so long. */
const rememberedMs = 60_000;

/** Whether a request that took so long counts as one that hangs, whatever the answer was in the end: webhooks have 10 s by default. */
export function hangs(tookMs: number): boolean {
  return tookMs >= hangsFromMs;
}

/**
 * Groups of objects, such as namespaces, about which requests hang, as behind a webhook: with this, others need not wait behind them.
 * Times are on the monotonic clock.
 */
export class HangingGroups {
  /** When the last such request ended. */
  readonly #hungMs = new Map<string, number>();

  /** A request about this group ended after so long. A quick answer says nothing of others, which a webhook may select by a label. */
  note(group: string, tookMs: number, nowMs: number): void {
    if (hangs(tookMs)) this.#hungMs.set(group, nowMs);
  }

  has(group: string, nowMs: number): boolean {
    const hungMs = this.#hungMs.get(group);
    return hungMs !== undefined && nowMs - hungMs < rememberedMs;
  }

  /** Forgets what is over, one group per step. */
  *sweep(nowMs: () => number): Generator<undefined, void> {
    for (const group of this.#hungMs.keys()) {
      if (!this.has(group, nowMs())) this.#hungMs.delete(group);
      yield;
    }
  }

  get size(): number {
    return this.#hungMs.size;
  }
}
