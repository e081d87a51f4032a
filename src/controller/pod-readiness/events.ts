import type { EventDraft } from '../../machinery/api/event.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { aboutPod } from '../model/subjects.ts';

export function podNodeNotReady(pod: Pick<PodView, 'namespace' | 'name' | 'uid'>): EventDraft {
  return { about: aboutPod(pod), type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' };
}
