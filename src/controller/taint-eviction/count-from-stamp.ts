import type { Now } from '../model/node-state.ts';

/**
 * API timestamps have whole seconds: the event may have happened up to this much later, and no pod may be evicted
 * early.
 */
const stampResolutionMs = 1_000;

/** Converts a wall time to the monotonic clock. A wall time in the future counts as now. */
export function countFromStamp(stampMs: number, { monotonicMs, wallMs }: Now): number {
  return monotonicMs - Math.max(0, wallMs - stampMs - stampResolutionMs);
}
