import { taintKeys } from '../../api/taints.ts';
import { deriveNodeHolds } from './derive-holds.ts';
import { deriveTurnAfterJoiningMs, deriveTurnMs } from './derive-turn.ts';
import type { Circumstances, NodeFacts } from './facts.ts';

export interface TaintForecast {
  readonly key: string;
  /** Infinity: not while things are as they are. */
  readonly atMs: number;
}

/**
 * The NoExecute taint that this node waits for, or would get if nothing more were heard of it; undefined where it has
 * one or nothing points to it.
 */
export function deriveTaintForecast(facts: NodeFacts, circumstances: Circumstances): TaintForecast | undefined {
  const { rationedKey } = facts.taints;
  if (rationedKey !== undefined)
    return { key: rationedKey, atMs: stopOr(circumstances, () => turnOf(facts, circumstances)) };
  if (facts.health === undefined || facts.ready === 'Unknown' || facts.ready === 'False') return undefined;
  if (deriveNodeHolds(facts).length > 0) return { key: taintKeys.unreachable, atMs: Infinity };
  const joining = {
    atMs: Math.max(facts.health.silentFromMs, circumstances.now.monotonicMs),
    ratePerSecond: facts.ratePerSecondIfSilent,
  };
  const turn = (): number => deriveTurnAfterJoiningMs(facts.zone.line, joining);
  return { key: taintKeys.unreachable, atMs: stopOr(circumstances, turn) };
}

/** While blind, nobody falls silent; while every zone is dark, nobody is tainted; only the leader acts. */
function stopOr({ leading, blind, everyZoneDark }: Circumstances, turnMs: () => number): number {
  return !leading || everyZoneDark || blind !== undefined ? Infinity : turnMs();
}

function turnOf({ node, zone: { line } }: NodeFacts, { now }: Circumstances): number {
  const ahead = line.nodes.indexOf(node);
  if (ahead >= 0) return deriveTurnMs(line, ahead);
  return deriveTurnAfterJoiningMs(line, { atMs: now.monotonicMs, ratePerSecond: line.ratePerSecond });
}
