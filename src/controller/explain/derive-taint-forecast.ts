import { taintKeys } from '../../api/taints.ts';
import { deriveNodeHolds } from './derive-holds.ts';
import { deriveNodeTurnMs, deriveRateChange } from './derive-node-turn.ts';
import type { Circumstances, NodeFacts } from './facts.ts';
import type { Given } from './outlook.ts';

export interface TaintForecast {
  readonly key: string;
  readonly given: Given;
  /** Infinity: not while things are as they are. */
  readonly atMs: number;
}

/**
 * The NoExecute taint that this node waits for, or would get if nothing more were heard of it; undefined where it has
 * one or nothing points to it.
 */
export function deriveTaintForecast(facts: NodeFacts, circumstances: Circumstances): TaintForecast | undefined {
  const { node, zone, ready, health, taints } = facts;
  if (taints.rationedKey !== undefined) {
    const joining = { atMs: circumstances.now.monotonicMs, beforeMs: [], change: undefined };
    const atMs = deriveNodeTurnMs(node, zone.line, joining, circumstances);
    return { key: taints.rationedKey, given: 'nothing-changes', atMs };
  }
  if (health === undefined || ready === 'Unknown' || ready === 'False') return undefined;
  return { key: taintKeys.unreachable, given: 'nothing-heard', atMs: turnAfterFallMs(facts, circumstances) };
}

function turnAfterFallMs(facts: NodeFacts, circumstances: Circumstances): number {
  if (deriveNodeHolds(facts).length > 0) return Infinity;
  const change = deriveRateChange(facts, circumstances);
  return deriveNodeTurnMs(facts.node, facts.zone.line, { atMs: change.atMs, beforeMs: [], change }, circumstances);
}
