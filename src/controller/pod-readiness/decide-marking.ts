import type { PodView } from '../../machinery/api/pod.ts';

/** State of the pod's node. */
export interface NodeMarkingState {
  readonly ready: string;
  /** A heartbeat within the grace period, while it is Unknown: its kubelet is back and posts the status of its pods. */
  readonly hasRecentHeartbeat: boolean;
  /** It is Unknown because its kubelet never posted a status. */
  readonly neverPosted: boolean;
}

/**
 * Whether this pod is to be marked NotReady: yes while its node is Unknown and no heartbeat came within its grace
 * period. A kubelet that reports Ready=False itself also reports its pods (upstream `MarkPodsNotReady` and
 * `processPod`; level-triggered, so that a restart in between loses nothing: decision 0007).
 */
export function decideMarking(pod: PodView, node: NodeMarkingState | undefined, bound: 'newly' | 'before'): boolean {
  if (node === undefined || pod.ready === undefined || pod.ready === 'False') return false;
  // A pod newly bound to a node with Ready=False was not reported by that kubelet yet.
  if (node.ready === 'False') return bound === 'newly';
  if (node.ready !== 'Unknown' || node.hasRecentHeartbeat) return false;
  // A node without a status was never reported ready: its pods are left as they are.
  return bound === 'newly' || !node.neverPosted;
}
