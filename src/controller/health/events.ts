import type { EventDraft } from '../../machinery/api/event.ts';
import { aboutNode, type NodeIdentity } from '../model/subjects.ts';

export function nodeRegistered(node: NodeIdentity): EventDraft {
  const message = `Node ${node.name} event: Registered Node ${node.name} in Controller`;
  return { about: aboutNode(node), type: 'Normal', reason: 'RegisteredNode', message };
}

export function nodeRemoved(node: NodeIdentity): EventDraft {
  const message = `Node ${node.name} event: Removing Node ${node.name} from Controller`;
  return { about: aboutNode(node), type: 'Normal', reason: 'RemovingNode', message };
}

/** Once for each time that this controller, not the kubelet, changed Ready from True. */
export function nodeNotReady(node: NodeIdentity): EventDraft {
  const message = `Node ${node.name} status is now: NodeNotReady`;
  return { about: aboutNode(node), type: 'Normal', reason: 'NodeNotReady', message };
}
