import type { EventDraft } from '../../api/event.ts';
import type { NodeView } from '../../api/node.ts';

type NodeIdentity = Pick<NodeView, 'name' | 'uid'>;

function about({ name, uid }: NodeIdentity): EventDraft['about'] {
  return { apiVersion: 'v1', kind: 'Node', name, uid };
}

export function nodeRegistered(node: NodeIdentity): EventDraft {
  return {
    about: about(node),
    type: 'Normal',
    reason: 'RegisteredNode',
    message: `Node ${node.name} event: Registered Node ${node.name} in Controller`,
  };
}

export function nodeRemoved(node: NodeIdentity): EventDraft {
  return {
    about: about(node),
    type: 'Normal',
    reason: 'RemovingNode',
    message: `Node ${node.name} event: Removing Node ${node.name} from Controller`,
  };
}

/** Once for each time that we, not the kubelet, changed Ready. */
export function nodeNotReady(node: NodeIdentity): EventDraft {
  return {
    about: about(node),
    type: 'Normal',
    reason: 'NodeNotReady',
    message: `Node ${node.name} status is now: NodeNotReady`,
  };
}
