import type { EventDraft } from '../../api/event.ts';
import { podKey, type PodView } from '../../api/pod.ts';

type PodIdentity = Pick<PodView, 'namespace' | 'name'>;

// Without a uid, as the reference sends them: `kubectl describe pod` finds them all the same.
function about({ namespace, name }: PodIdentity): EventDraft['about'] {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name };
}

export function markingForDeletion(pod: PodIdentity): EventDraft {
  return {
    about: about(pod),
    type: 'Normal',
    reason: 'TaintManagerEviction',
    message: `Marking for deletion Pod ${podKey(pod)}`,
  };
}

export function cancellingDeletion(pod: PodIdentity): EventDraft {
  return {
    about: about(pod),
    type: 'Normal',
    reason: 'TaintManagerEviction',
    message: `Cancelling deletion of Pod ${podKey(pod)}`,
  };
}
