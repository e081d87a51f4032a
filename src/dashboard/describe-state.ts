import type { NodeState } from './protocol.ts';

interface StateText {
  readonly label: string;
  /** What stands for the state where its color is not enough. */
  readonly letter: string;
  readonly meaning: string;
}

const texts: Readonly<Record<NodeState, StateText>> = {
  ready: { label: 'Ready', letter: 'R', meaning: 'Ready=True, and its heartbeats arrive' },
  'not-ready': { label: 'Not ready', letter: 'N', meaning: 'Ready=False: its kubelet reports a problem' },
  suspect: { label: 'Suspect', letter: 'S', meaning: 'silent, and not yet Ready=Unknown' },
  unreachable: { label: 'Unreachable', letter: 'U', meaning: 'Ready=Unknown, and no NoExecute taint yet' },
  tainted: { label: 'Tainted', letter: 'T', meaning: 'has a NoExecute taint of this controller' },
  emptying: { label: 'Emptying', letter: 'E', meaning: 'its pods are scheduled for deletion' },
  maintenance: { label: 'Maintenance', letter: 'M', meaning: 'in planned maintenance: no eviction for its health' },
  paused: { label: 'Paused', letter: 'P', meaning: 'a pause holds its taints and evictions' },
};

export function describeState(state: NodeState): StateText {
  return texts[state];
}

export function isNodeState(text: string): text is NodeState {
  return Object.hasOwn(texts, text);
}
