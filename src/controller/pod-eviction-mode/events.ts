import type { EventDraft } from '../../machinery/api/event.ts';
import type { PodView } from '../../machinery/api/pod.ts';

/** All pods of the node are about to be deleted. Without uid where the node itself no longer exists. */
export function deletingAllPods({ name, uid }: { readonly name: string; readonly uid?: string }): EventDraft {
  const identity = uid === undefined ? { name } : { name, uid };
  const message = `Node ${name} event: Deleting all Pods from Node ${name}.`;
  return { about: { apiVersion: 'v1', kind: 'Node', ...identity }, type: 'Normal', reason: 'DeletingAllPods', message };
}

/** Once for each pod that is deleted. */
export function nodeControllerEviction({ namespace, name, uid, nodeName }: PodView): EventDraft {
  const message = `Marking for deletion Pod ${name} from Node ${nodeName}`;
  return {
    about: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: 'Normal',
    reason: 'NodeControllerEviction',
    message,
  };
}
