// Decides whether a node is in planned maintenance, and until when. Each signal counts for the maximum from its own
// start, so a signal that remains from an earlier maintenance does not shorten a later one. In one outage all of them together
// count for a maximum too: a client that sets one after the other gains no more.
import { clockSkewMs, parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { Maintenance, MaintenanceSignal, NodePolicy } from '../model/policy.ts';
import { decideMeaning } from './decide-meaning.ts';

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

/** What else the decision follows from. Wall times. */
interface MaintainedNode {
  readonly nowMs: number;
  /** It renews its lease or sends its status. */
  readonly isAlive: boolean;
  /** Since when all signals of a node that is not Ready count together; undefined: it is Ready. */
  readonly outageSinceMs: number | undefined;
}

/** Undefined: nothing means maintenance, or the maximum of all that does is over. */
export function decideMaintenance(
  { name, maintenance: rule }: Pick<NodePolicy, 'name' | 'maintenance'>,
  started: readonly StartedSignal[],
  node: MaintainedNode,
): Maintenance | undefined {
  if (rule === undefined) return undefined;
  const { maxDurationMs, maxTotalMs = Infinity } = rule;
  const allUntilMs = (node.outageSinceMs ?? Infinity) + maxTotalMs;
  const inForce = started
    .map(({ signal, sinceMs }) => ({
      signal,
      untilMs: Math.min(sinceMs + maxDurationMs, allUntilMs),
      meaning: decideMeaning(signal, rule, node.isAlive),
    }))
    .filter(({ untilMs, meaning }) => node.nowMs < untilMs && meaning !== 'none');
  if (inForce.length === 0) return undefined;
  const holding = inForce.filter(({ meaning }) => meaning === 'hold');
  const hold = {
    by: holding.map(({ signal }) => signal),
    untilMs: lastOf(holding),
    endsWithSilence: holding.every(({ signal }) => decideMeaning(signal, rule, false) !== 'hold'),
  };
  return { policy: name, untilMs: lastOf(inForce), hold: holding.length === 0 ? undefined : hold };
}

function lastOf(all: readonly { readonly untilMs: number }[]): number {
  return Math.max(...all.map(({ untilMs }) => untilMs));
}
