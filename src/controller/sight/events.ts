import type { EventDraft } from '../../api/event.ts';
import { nodeLeaseNamespace } from '../../api/resources.ts';
import type { BlindReason } from '../../ports/sight.ts';

// About the namespace of the nodes' leases: blindness is about all of them, and no node of its own is to blame.
const about: EventDraft['about'] = { apiVersion: 'v1', kind: 'Namespace', name: nodeLeaseNamespace };

export function verdictsFrozen(reason: BlindReason): EventDraft {
  return {
    about,
    type: 'Warning',
    reason: 'NodeVerdictsFrozen',
    message: `No node is called silent for now: ${reason}`,
  };
}

export function verdictsResumed(blindMs: number): EventDraft {
  const seconds = (blindMs / 1_000).toFixed(1);
  return {
    about,
    type: 'Normal',
    reason: 'NodeVerdictsResumed',
    message: `Nodes are judged again; ${seconds} s without sight are held against none of them`,
  };
}
