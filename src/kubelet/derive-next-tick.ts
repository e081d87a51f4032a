/**
 * The first point after `afterMs` of the grid that begins at `startMs` and has a point each `periodMs`. A loop that sleeps
 * to grid points only when there is something to do behaves as one that wakes at each of them and mostly finds nothing.
 */
export function deriveNextTick(startMs: number, periodMs: number, afterMs: number): number {
  return startMs + (Math.floor((afterMs - startMs) / periodMs) + 1) * periodMs;
}
