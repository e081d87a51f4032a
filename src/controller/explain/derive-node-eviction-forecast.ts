import { deriveNodeHolds } from './derive-holds.ts';
import { deriveFreeAtMs, deriveNodeTurnMs, deriveRateChange } from './derive-node-turn.ts';
import type { Circumstances, EvictionMark, NodeEvictionFacts, NodeFacts } from './facts.ts';
import type { Given } from './outlook.ts';

/** Eviction mode: when a node's pods are deleted. */
export interface NodeEvictionForecast {
  readonly mark: EvictionMark;
  readonly given: Given;
  /** When it gets in line; undefined if it is or was in line, or nobody looked at it yet. */
  readonly dueAtMs: number | undefined;
  /** When its turn comes, or for an evicted one when its pods may go; Infinity: not while things are as they are. */
  readonly atMs: number;
}

/** When the pods of this node are deleted, or would be if nothing more were heard of it. */
export function deriveNodeEvictionForecast(
  facts: NodeFacts,
  eviction: NodeEvictionFacts,
  circumstances: Circumstances,
): NodeEvictionForecast {
  const { mark } = eviction;
  // What a kubelet says of itself stands until it says something else; silence ends with any heartbeat.
  const given = facts.ready === 'False' ? 'nothing-changes' : 'nothing-heard';
  if (mark === 'evicted') {
    const atMs = Math.max(circumstances.now.monotonicMs, deriveFreeAtMs(circumstances));
    return { mark, given: 'nothing-changes', dueAtMs: undefined, atMs };
  }
  return { mark, given, dueAtMs: dueMs(eviction, circumstances), atMs: turnMs(facts, eviction, circumstances) };
}

/** What cannot come true now does not come nearer either. */
function dueMs({ mark, dueAtMs }: NodeEvictionFacts, circumstances: Circumstances): number | undefined {
  if (mark !== 'unmarked' || dueAtMs === undefined) return undefined;
  return deriveFreeAtMs(circumstances) === Infinity ? Infinity : dueAtMs;
}

function turnMs(facts: NodeFacts, { dueAtMs, beforeMs }: NodeEvictionFacts, circumstances: Circumstances): number {
  const { node, ready, zone } = facts;
  const falls = ready !== 'False' && ready !== 'Unknown';
  const isUnconfirmed = falls && deriveNodeHolds(facts).length > 0;
  if (dueAtMs === undefined || isUnconfirmed) return Infinity;
  const atMs = Math.max(dueAtMs, circumstances.now.monotonicMs);
  const change = falls ? deriveRateChange(facts, circumstances) : undefined;
  return deriveNodeTurnMs(node, zone.line, { atMs, beforeMs, change }, circumstances);
}
