import type { EventDraft } from '../../machinery/api/event.ts';
import { podKey, type PodView } from '../../machinery/api/pod.ts';

type PodIdentity = Pick<PodView, 'namespace' | 'name'>;

// Without a uid, as kube-controller-manager sends them; `kubectl describe pod` finds them anyway.
function about({ namespace, name }: PodIdentity): EventDraft['about'] {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name };
}

export function markingForDeletion(pod: PodIdentity): EventDraft {
  const message = `Marking for deletion Pod ${podKey(pod)}`;
  return { about: about(pod), type: 'Normal', reason: 'TaintManagerEviction', message };
}

export function cancellingDeletion(pod: PodIdentity): EventDraft {
  const message = `Cancelling deletion of Pod ${podKey(pod)}`;
  return { about: about(pod), type: 'Normal', reason: 'TaintManagerEviction', message };
}
