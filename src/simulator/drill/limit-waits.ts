import type { RequestLine } from '../network/network.ts';

interface Limits {
  readonly qps: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
  /** Since when each request took a token as soon as there was one. */
  emptySinceMs: number;
}

/** Requests are not sent in the very moment of their token: latencies of the process, clock drift. */
const tokensMore = 0.05;

/** How long a request of the main client may have waited for `--kube-api-qps`: the longest time without a spare token. */
export class LimitWaits {
  readonly #limits: Limits;
  readonly #buckets = new Map<string, Bucket>();
  #longestMs = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get longestMs(): number {
    return this.#longestMs;
  }

  onSent({ by: { process, client }, verb }: RequestLine, nowMs: number): void {
    if (client !== 'main' || verb === 'watch') return;
    const { qps, burst } = this.#limits;
    const bucket = this.#buckets.get(process) ?? { tokens: burst, atMs: nowMs, emptySinceMs: nowMs };
    const tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * qps);
    if (tokens > 1 + tokensMore) bucket.emptySinceMs = nowMs;
    bucket.tokens = Math.max(0, tokens - 1);
    bucket.atMs = nowMs;
    this.#buckets.set(process, bucket);
    this.#longestMs = Math.max(this.#longestMs, nowMs - bucket.emptySinceMs);
  }
}
