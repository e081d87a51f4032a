import type { EventDraft } from '../../machinery/api/event.ts';
import type { NodeView } from '../../machinery/api/node.ts';

type NodeIdentity = Pick<NodeView, 'name' | 'uid'>;

function about({ name, uid }: NodeIdentity): EventDraft['about'] {
  return { apiVersion: 'v1', kind: 'Node', name, uid };
}

export function nodeRegistered(node: NodeIdentity): EventDraft {
  const message = `Node ${node.name} event: Registered Node ${node.name} in Controller`;
  return { about: about(node), type: 'Normal', reason: 'RegisteredNode', message };
}

export function nodeRemoved(node: NodeIdentity): EventDraft {
  const message = `Node ${node.name} event: Removing Node ${node.name} from Controller`;
  return { about: about(node), type: 'Normal', reason: 'RemovingNode', message };
}

/** Once for each time that this controller, not the kubelet, changed Ready from True. */
export function nodeNotReady(node: NodeIdentity): EventDraft {
  const message = `Node ${node.name} status is now: NodeNotReady`;
  return { about: about(node), type: 'Normal', reason: 'NodeNotReady', message };
}
