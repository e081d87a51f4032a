import type { LeaseView } from '../api/lease.ts';

/** Why we do not trust what we see, or rather what we do not see. */
export type BlindReason =
  /** Neither a frame of the lease stream nor an answer of the API server for too long: it, the way to it, or we stood still. */
  | 'no-contact'
  /** The streams of nodes or leases are being opened or listed anew. */
  | 'streams-not-open'
  /** The streams are alive and show less than the API server has acknowledged to us: what it serves them from lags. */
  | 'stream-behind'
  /** Contact is back, and the nodes get time to be heard before anything is held against them. */
  | 'observing';

/** A clock that runs only while we would have heard a heartbeat. Silence is measured by it. */
export interface Sight {
  /** Never goes back; stands still while we are blind. */
  nowMs(): number;
  /** Undefined while we see. */
  blindness(): BlindReason | undefined;
}

/** Asks the API server itself, past every cache. */
export interface LiveLeases {
  /** The leases of these nodes as they are now; a node without one is missing in the answer. Rejects with an ApiError. */
  read(nodes: readonly string[]): Promise<ReadonlyMap<string, LeaseView>>;
  /** The cheapest read that only a working API server with working storage can answer. Rejects with an ApiError. */
  probe(signal: AbortSignal): Promise<void>;
}

/** A lease of our own among those of the nodes, written only to see when our stream shows it. */
export interface CanaryLease {
  /** Writes it anew; resolves with its version. Rejects with an ApiError. */
  touch(signal: AbortSignal): Promise<string>;
}
