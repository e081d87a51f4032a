/** No limit before the first object of an initial state and after its end: other limits apply there. */
const noLimit = Infinity;

/** Maximum time since the last new object of the initial state; then the next object, or the end, is overdue. */
export const initialQuietMsMax = 30_000;
/**
 * Maximum time of an initial state, and the additional time for each of its objects: where objects are created all the
 * time, new ones keep arriving although the bookmark that ends the state may never come.
 */
export const initialMsMax = 60_000;
export const initialMsPerObject = 2;

export interface InitialLimits {
  /** Since the last new object, in milliseconds. */
  readonly quietMsMax: number;
  /** Since the first object, in milliseconds. */
  readonly ageMsMax: number;
}

/**
 * Time limits of a streaming list. `initialCount`: number of objects received, undefined after its end. A server may stream
 * changes without limit and never send the bookmark that ends the initial state.
 */
export function planInitialLimits(initialCount: number | undefined): InitialLimits {
  if (initialCount === undefined || initialCount === 0) return { quietMsMax: noLimit, ageMsMax: noLimit };
  return { quietMsMax: initialQuietMsMax, ageMsMax: initialMsMax + initialMsPerObject * initialCount };
}
