import type { EventDraft } from '../../machinery/api/event.ts';
import { nodeLeaseNamespace } from '../../machinery/api/resources.ts';
import type { StaleReason } from '../model/freshness.ts';
import { describeStaleness } from '../model/decisions.ts';

// About the namespace of the node leases: the pause affects all nodes, so no Node is the regarding object.
const about: EventDraft['about'] = { apiVersion: 'v1', kind: 'Namespace', name: nodeLeaseNamespace };

export function evaluationPaused(reason: StaleReason): EventDraft {
  const message = `Node health evaluation paused: ${describeStaleness(reason)}`;
  return { about, type: 'Warning', reason: 'NodeHealthEvaluationPaused', message };
}

export function evaluationResumed(staleMs: number): EventDraft {
  const seconds = (staleMs / 1_000).toFixed(1);
  const message = `Node health evaluation resumed; the ${seconds}s gap is not counted against any node`;
  return { about, type: 'Normal', reason: 'NodeHealthEvaluationResumed', message };
}
