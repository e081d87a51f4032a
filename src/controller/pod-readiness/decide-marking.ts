import type { PodView } from '../../api/pod.ts';

/** What is known of the pod's node when we ask. */
export interface NodeStanding {
  readonly ready: string;
  /** Heard of since it became Unknown: the kubelet is back and speaks for its pods itself. */
  readonly heardSinceUnknown: boolean;
  /** It is Unknown because its kubelet never posted a status. */
  readonly neverPosted: boolean;
}

/**
 * Must we say that this pod is not ready? Yes while its node is Unknown and stays silent. A kubelet that itself says
 * Ready=False is trusted to report its pods (upstream `MarkPodsNotReady` and `processPod`; level-triggered, so that a
 * restart in the middle loses nothing: decision 0007).
 */
export function decideMarking(pod: PodView, node: NodeStanding | undefined, bound: 'newly' | 'before'): boolean {
  if (node === undefined || pod.ready === undefined || pod.ready === 'False') return false;
  // A pod that comes to a node which says itself that it is not ready has nobody there to say so yet.
  if (node.ready === 'False') return bound === 'newly';
  if (node.ready !== 'Unknown' || node.heardSinceUnknown) return false;
  // Nobody ever said that a node without a status was ready: what is on it is left as it is.
  return bound === 'newly' || !node.neverPosted;
}
