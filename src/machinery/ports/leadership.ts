/** Whether this process may write: a deadline checked before every write, not a flag that must be cleared in time. */
export interface Leadership {
  holds(): boolean;
}

/**
 * How a leader's work ended. `drained`: the outcome of every write is known. `cut-off`: a write may still reach the API
 * server, so the lease must not be released early.
 */
export type Ending = 'drained' | 'cut-off';
