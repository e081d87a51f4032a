import type { EventDraft } from '../../machinery/api/event.ts';
import type { Pod } from '../../machinery/api/pod.ts';

/** A pod was bound to a node (the text is kube-scheduler's). */
export function podScheduled({ metadata }: Pod, node: string): EventDraft {
  const { namespace = '', name = '' } = metadata;
  const message = `Successfully assigned ${namespace}/${name} to ${node}`;
  return { about: aboutPod(metadata), type: 'Normal', reason: 'Scheduled', action: 'Binding', message };
}

/** A pod fits no node. */
export function schedulingFailed({ metadata }: Pod, message: string): EventDraft {
  return { about: aboutPod(metadata), type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message };
}

function aboutPod({ namespace = '', name = '', uid = '' }: Pod['metadata']): EventDraft['about'] {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
}
