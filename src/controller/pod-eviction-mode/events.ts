import type { EventDraft } from '../../machinery/api/event.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { aboutPod } from '../model/subjects.ts';

/** All pods of the node are about to be deleted. Without uid where the node itself no longer exists. */
export function deletingAllPods({ name, uid }: { readonly name: string; readonly uid?: string }): EventDraft {
  const identity = uid === undefined ? { name } : { name, uid };
  const message = `Node ${name} event: Deleting all Pods from Node ${name}.`;
  return { about: { apiVersion: 'v1', kind: 'Node', ...identity }, type: 'Normal', reason: 'DeletingAllPods', message };
}

/** Once for each pod that is deleted. */
export function nodeControllerEviction(pod: PodView): EventDraft {
  const message = `Marking for deletion Pod ${pod.name} from Node ${pod.nodeName}`;
  return { about: aboutPod(pod), type: 'Normal', reason: 'NodeControllerEviction', message };
}
