/** What the clients of a replica may send, apart from `main`, whose limits are flags. No kind of request waits behind another. */
export interface ClientLimits {
  /** Requests per second; 0: no limit. */
  readonly qps: number;
  readonly burst: number;
  readonly requestTimeoutMs?: number;
  /** Retries of one read; absent: the default. */
  readonly retriesMax?: number;
}

const electionTimeoutMs = 10_000;
const freshnessTimeoutMs = 5_000;

/** Freshness probes must not wait behind requests that the API server does not answer. */
export const freshnessLimits: ClientLimits = {
  qps: 20,
  burst: 40,
  retriesMax: 0,
  requestTimeoutMs: freshnessTimeoutMs,
};
const eventLimitsMin = { qps: 10, burst: 20 } as const;

/**
 * Half of the limits of `main`, besides them: in an outage a node and each of its pods has an Event for every write, and
 * who raises `--kube-api-qps` for a large cluster wants to read of all of them.
 */
export function eventLimits({ qps, burst }: Pick<ClientLimits, 'qps' | 'burst'>): ClientLimits {
  return { qps: Math.max(eventLimitsMin.qps, qps / 2), burst: Math.max(eventLimitsMin.burst, Math.floor(burst / 2)) };
}

/** One write every few seconds needs no limit. */
export const canaryLimits: ClientLimits = { qps: 0, burst: 0, retriesMax: 0, requestTimeoutMs: freshnessTimeoutMs };

/** The status of policies: a few writes every few seconds, never in the way of others. A stop waits for one in flight. */
export const policyStatusLimits: ClientLimits = { qps: 5, burst: 10, retriesMax: 0, requestTimeoutMs: 3_000 };

/**
 * Leader election has its own connection and rate limit: a burst of writes must not delay the renewal of the lease. The
 * elector retries by itself and ignores Retry-After, because the renewal has a deadline.
 */
export function electionLimits(renewDeadlineMs: number): ClientLimits {
  return { qps: 10, burst: 20, retriesMax: 0, requestTimeoutMs: Math.min(electionTimeoutMs, renewDeadlineMs) };
}
