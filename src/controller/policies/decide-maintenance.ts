// Decides whether a node is in planned maintenance, and until when. Each signal counts for the maximum from its own
// start, so a signal that remains from an earlier maintenance does not shorten a later one.
import { clockSkewMs, parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { Maintenance, MaintenanceSignal, NodePolicy } from '../model/policy.ts';

/**
 * The wall time in a signal; undefined if it is missing, malformed, or further in the future than clocks differ: then it
 * is no time at which anything happened, and a hold that counted from it might never end.
 */
export function parseSignalTime(at: string | undefined, wallMs: number): number | undefined {
  const atMs = parseTimestamp(at);
  return atMs === undefined || atMs > wallMs + clockSkewMs ? undefined : atMs;
}

export interface StartedSignal {
  readonly signal: MaintenanceSignal;
  /** Wall time. */
  readonly sinceMs: number;
}

/** Undefined: nothing means maintenance, or the maximum of all that does is over. */
export function decideMaintenance(
  { name, maintenance }: Pick<NodePolicy, 'name' | 'maintenance'>,
  started: readonly StartedSignal[],
  wallMs: number,
): Maintenance | undefined {
  if (maintenance === undefined) return undefined;
  const ends = started.map(({ signal, sinceMs }) => ({ signal, untilMs: sinceMs + maintenance.maxDurationMs }));
  const inForce = ends.filter(({ untilMs }) => wallMs < untilMs);
  if (inForce.length === 0) return undefined;
  const untilMs = Math.max(...inForce.map((end) => end.untilMs));
  return { policy: name, signals: inForce.map(({ signal }) => signal), untilMs };
}
