/**
 * ready, not-ready (Ready=False), suspect (silent, not yet Unknown), unreachable (Ready=Unknown, no NoExecute taint),
 * tainted (NoExecute taint of this controller), emptying (tainted or in the eviction queue, and pods are scheduled for
 * deletion), maintenance, paused. One per node; the last that applies wins.
 */
export type NodeState =
  | 'ready'
  | 'not-ready'
  | 'suspect'
  | 'unreachable'
  | 'tainted'
  | 'emptying'
  | 'maintenance'
  | 'paused';

export interface NodeStateEvidence {
  /** Status of the Ready condition, or `missing`. */
  readonly ready: string;
  /** The last heartbeat of the node is older than its grace period. */
  readonly isSilent: boolean;
  /** The node has a NoExecute taint for its health. */
  readonly isTainted: boolean;
  /** Eviction mode: it is queued for the deletion of its pods, or they are being deleted. */
  readonly isEvicted: boolean;
  /** Pods of it are scheduled for deletion. */
  readonly hasLeavingPods: boolean;
  readonly isMaintained: boolean;
  /** Paused by the annotation of the node or by its policy. A pause of all nodes is not the state of a node. */
  readonly isPaused: boolean;
}

/** The one state of a node that is shown: the last in this order that applies. */
export function classifyNodeState(evidence: NodeStateEvidence): NodeState {
  if (evidence.isPaused) return 'paused';
  if (evidence.isMaintained) return 'maintenance';
  if (evidence.hasLeavingPods && (evidence.isTainted || evidence.isEvicted)) return 'emptying';
  if (evidence.isTainted) return 'tainted';
  if (evidence.ready === 'Unknown') return 'unreachable';
  if (evidence.isSilent) return 'suspect';
  return evidence.ready === 'True' ? 'ready' : 'not-ready';
}
