import type { NotedDecision } from '../decision-log/decision-log.ts';
import type { Decision } from '../model/decisions.ts';

type Test = (decision: Decision) => boolean;

/**
 * The time of the first decision that begins a hold, after the last one that ends it; undefined: the decisions that are
 * kept, oldest first, do not show it.
 */
export function selectHoldSince(decisions: readonly NotedDecision[], begins: Test, ends: Test): number | undefined {
  const last = decisions.findLastIndex(({ decision }) => ends(decision));
  return decisions.slice(last + 1).find(({ decision }) => begins(decision))?.atMs;
}
