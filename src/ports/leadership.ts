/** May we write? A deadline that is checked before every write, not a flag that somebody has to lower in time. */
export interface Leadership {
  holds(): boolean;
}

/**
 * How a leader's work ended. `drained`: every write of it is settled. `cut-off`: one may still reach the API server, so
 * nobody else may be let in early.
 */
export type Ending = 'drained' | 'cut-off';
