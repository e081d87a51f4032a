import { taintKeys } from '../../api/taints.ts';
import { deriveNodeHolds } from './derive-holds.ts';
import { deriveTurnAfterJoiningMs, deriveTurnMs } from './derive-turn.ts';
import type { Circumstances, LineFacts, NodeFacts } from './facts.ts';

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
  const line = lineAfterHold(facts.zone.line, circumstances);
  if (rationedKey !== undefined)
    return { key: rationedKey, atMs: stopOr(circumstances, () => turnOf(facts.node, line, circumstances)) };
  if (facts.health === undefined || facts.ready === 'Unknown' || facts.ready === 'False') return undefined;
  if (deriveNodeHolds(facts).length > 0) return { key: taintKeys.unreachable, atMs: Infinity };
  const joining = {
    atMs: Math.max(facts.health.silentFromMs, circumstances.now.monotonicMs),
    ratePerSecond: facts.ratePerSecondIfSilent,
  };
  return {
    key: taintKeys.unreachable,
    atMs: stopOr(circumstances, () => deriveTurnAfterJoiningMs(line, joining)),
  };
}

/** While blind, nobody falls silent; while every zone is dark, nobody is tainted; only the leader acts. */
function stopOr({ leading, blind, everyZoneDark }: Circumstances, turnMs: () => number): number {
  return !leading || everyZoneDark || blind !== undefined ? Infinity : turnMs();
}

/** During a hold tokens are not spent: the first turn is at its end. */
function lineAfterHold(line: LineFacts, { outageHold }: Circumstances): LineFacts {
  const nextTokenAtMs = Math.max(line.nextTokenAtMs, outageHold?.untilMs ?? -Infinity);
  return { ...line, nextTokenAtMs };
}

function turnOf(node: string, line: LineFacts, { now }: Circumstances): number {
  const ahead = line.nodes.indexOf(node);
  if (ahead >= 0) return deriveTurnMs(line, ahead);
  return deriveTurnAfterJoiningMs(line, { atMs: now.monotonicMs, ratePerSecond: line.ratePerSecond });
}
