import { deriveNodeEvictionForecast, type NodeEvictionForecast } from './derive-node-eviction-forecast.ts';
import { deriveTaintForecast, type TaintForecast } from './derive-taint-forecast.ts';
import type { Circumstances, NodeFacts } from './facts.ts';

/** What is going to happen to a node that sends its pods away: one of the two, or nothing. */
export interface NodeForecast {
  readonly taint?: TaintForecast | undefined;
  readonly eviction?: NodeEvictionForecast | undefined;
}

/** What this process will do to a node, in the mode in which it runs; nothing if nodes are not its business. */
export function deriveNodeForecast(facts: NodeFacts, circumstances: Circumstances): NodeForecast {
  if (!circumstances.runs.nodeLifecycle) return {};
  if (facts.eviction === undefined) return { taint: deriveTaintForecast(facts, circumstances) };
  return { eviction: deriveNodeEvictionForecast(facts, facts.eviction, circumstances) };
}
