/** States of a node in lists, from the least to the most specific one. */
export const nodeStates = [
  'ready',
  'not-ready',
  'suspect',
  'unreachable',
  'tainted',
  'emptying',
  'maintenance',
  'paused',
] as const;
export type NodeState = (typeof nodeStates)[number];

interface NodeStateFacts {
  /** Status of the Ready condition, or `missing`. */
  readonly ready: string;
  readonly silent: boolean;
  /** It has a NoExecute taint of the controller. */
  readonly tainted: boolean;
  /** It is tainted or queued, and pods of it are scheduled for deletion. */
  readonly emptying: boolean;
  /** In planned maintenance. */
  readonly maintained: boolean;
  /** Its annotation or its policy pauses it. */
  readonly paused: boolean;
}

/** The last state that applies. A node that is silent and not yet Unknown is suspect. */
export function classifyNodeState(facts: NodeStateFacts): NodeState {
  if (facts.paused) return 'paused';
  if (facts.maintained) return 'maintenance';
  if (facts.emptying) return 'emptying';
  if (facts.tainted) return 'tainted';
  if (facts.ready === 'Unknown') return 'unreachable';
  if (facts.silent) return 'suspect';
  return facts.ready === 'True' ? 'ready' : 'not-ready';
}
