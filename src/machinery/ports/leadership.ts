/** Whether this process may write: a deadline checked before every write, not a flag that must be cleared in time. */
export interface Leadership {
  holds(): boolean;
}

/**
 * End of a leader's work. `drained`: the outcome of every write is known. `cut-off`: a write may still reach the API
 * server, so the lease must not be released early.
 */
export type Ending = 'drained' | 'cut-off';
