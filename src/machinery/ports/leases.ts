import type { ApiError } from '../api/api-error.ts';
import type { LeaseView } from '../api/lease.ts';

/** The result of a live read of one lease. `missing`: the node has no lease. */
export type LeaseRead =
  | { readonly kind: 'found'; readonly lease: LeaseView }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly error: ApiError };

/** Reads from the API server, bypassing every cache. */
export interface LiveLeases {
  /** The current lease of this node. Never rejects. */
  readOne(node: string): Promise<LeaseRead>;
  /**
   * All current leases, by node; an absent one is missing. Rejects with an ApiError. `waitMsMax`: as of a list
   * (`machinery/ports/kube-reader.ts`).
   */
  readAll(patience?: { readonly waitMsMax: number }): Promise<ReadonlyMap<string, LeaseRead>>;
  /**
   * The cheapest read that succeeds only if the API server and its storage work. Resolves with the resourceVersion of the
   * response. Rejects with an ApiError.
   */
  probe(signal: AbortSignal): Promise<string>;
}

/** The controller's own lease in the namespace of the node leases, written only to measure when the watch delivers it. */
export interface CanaryLease {
  /** Updates it; resolves with its resourceVersion. Rejects with an ApiError. */
  touch(signal: AbortSignal): Promise<string>;
}
