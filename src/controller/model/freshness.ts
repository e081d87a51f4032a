/** Why watch streams count as stale. */
export type StaleReason =
  /** No frame of the lease watch and no response of the API server for too long, or this process was stopped. */
  | 'no-contact'
  /** The watches of nodes or leases are being reopened or listed. */
  | 'streams-not-open'
  /** The watches are open and behind a write that the API server has acknowledged: its watch cache lags. */
  | 'stream-behind'
  /** The watches are fresh again, and nodes get time to renew before they are evaluated. */
  | 'observing';

/** A clock that runs only while a heartbeat would be received. Silence is measured with it. */
export interface Freshness {
  /** Never goes back; stands still while watches are stale. */
  nowMs(): number;
  /**
   * The time on this clock with which a heartbeat that arrives now is recorded. Later than {@link nowMs} while a list or
   * frame stands in: the clock counts the time before it when it has been read, and the heartbeat was sent in that time.
   */
  arrivalMs(): number;
  /** Undefined while watches are fresh. */
  staleness(): StaleReason | undefined;
  /** Lists or frames replace watches that stay stale: changes show in the caches late, by up to the time between two lists. */
  usesFallback(): boolean;
}
