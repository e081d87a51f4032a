import type { NodeState } from '../../controller/report/classify-node-state.ts';
import type { Fault } from '../../hollow-cluster/kubelet/faults/fault.ts';

/** State of a node as on the dashboard of a controller, and `gone` for one that was deleted. */
export type RecordedState = Exclude<NodeState, 'paused'> | 'gone';

/** State of one node at one moment, as the simulation knows it. */
export interface RecordedNode {
  readonly exists: boolean;
  /** Status of its Ready condition. */
  readonly ready: string;
  /** True if the node has no heartbeats: a fault prevents them. */
  readonly isSilent: boolean;
  /** True if the node has a NoExecute taint of the controller. */
  readonly isTainted: boolean;
  /** Number of its pods whose eviction is scheduled. */
  readonly leaving: number;
  /** In planned maintenance by its policy. */
  readonly isMaintained: boolean;
}

/** The last state that applies wins. */
export function classifyNode(node: RecordedNode): RecordedState {
  if (!node.exists) return 'gone';
  if (node.isMaintained) return 'maintenance';
  if (node.isTainted) return node.leaving > 0 ? 'emptying' : 'tainted';
  if (node.ready === 'False') return 'not-ready';
  if (node.ready !== 'True') return 'unreachable';
  return node.isSilent ? 'suspect' : 'ready';
}

/** Faults without heartbeats. A fault that only delays or changes what a node reports leaves it reachable. */
export const endsHeartbeats: ReadonlySet<string> = new Set<Fault['kind']>([
  'silence',
  'partition',
  'flap',
  'errors',
  'crash',
  'shutdown',
  'delete-node',
]);
