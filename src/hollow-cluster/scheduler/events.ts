import type { EventDraft } from '../../machinery/api/event.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import { podReference } from '../kubelet/pod-config/describe-pod-event.ts';

/** A pod was bound to a node (the text is kube-scheduler's). */
export function podScheduled(pod: Pod, node: string): EventDraft {
  const { namespace = '', name = '' } = pod.metadata;
  const message = `Successfully assigned ${namespace}/${name} to ${node}`;
  return { about: podReference(pod), type: 'Normal', reason: 'Scheduled', action: 'Binding', message };
}

/** A pod fits no node. */
export function schedulingFailed(pod: Pod, message: string): EventDraft {
  return { about: podReference(pod), type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message };
}
