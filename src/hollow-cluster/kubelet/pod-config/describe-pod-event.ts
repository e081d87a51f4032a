import type { EventDraft, EventType } from '../../../machinery/api/event.ts';
import type { ObjectReference } from '../../../machinery/api/meta.ts';
import type { Pod } from '../../../machinery/api/pod.ts';

export function podReference({ metadata: { namespace = '', name = '', uid = '' } }: Pod): ObjectReference {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
}

export function describePodEvent(pod: Pod, type: EventType, reason: string, message: string): EventDraft {
  return { about: podReference(pod), type, reason, message };
}
