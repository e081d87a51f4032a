/** The condition of a zone; `initial` until it is judged for the first time. */
export type ZoneCondition = 'initial' | 'normal' | 'partially-disrupted' | 'fully-disrupted';
