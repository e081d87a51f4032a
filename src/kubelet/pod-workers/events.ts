import type { EventDraft, EventType } from '../../api/event.ts';
import type { Pod } from '../../api/pod.ts';

/** The runtime would not say how the pod is. */
export function failedSync(pod: Pod, message: string): EventDraft {
  return draft(pod, 'Warning', 'FailedSync', `error determining status: ${message}`);
}

/** The runtime would not stop the pod. */
export function failedKillPod(pod: Pod, message: string): EventDraft {
  return draft(pod, 'Warning', 'FailedKillPod', `error killing pod: ${message}`);
}

/** The pod waits for the network of the node. */
export function networkNotReadyEvent(pod: Pod, message: string): EventDraft {
  return draft(pod, 'Warning', 'NetworkNotReady', message);
}

/** Whoever wanted the pod's end has waited long enough. */
export function exceededGracePeriod(pod: Pod): EventDraft {
  const message = 'Container runtime did not kill the pod within specified grace period.';
  return draft(pod, 'Warning', 'ExceededGracePeriod', message);
}

function draft(pod: Pod, type: EventType, reason: string, message: string): EventDraft {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  return { about: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid }, type, reason, message };
}
