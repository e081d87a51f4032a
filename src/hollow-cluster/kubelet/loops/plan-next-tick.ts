/**
 * The first point after `afterMs` of the grid that starts at `startMs` and has a point every `periodMs`. A loop that
 * wakes at a grid point only when it has work behaves like a loop that wakes at each point.
 */
export function planNextTick(startMs: number, periodMs: number, afterMs: number): number {
  return startMs + (Math.floor((afterMs - startMs) / periodMs) + 1) * periodMs;
}
