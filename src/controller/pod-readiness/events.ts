import type { EventDraft } from '../../machinery/api/event.ts';
import type { PodView } from '../../machinery/api/pod.ts';

export function podNodeNotReady({ namespace, name, uid }: Pick<PodView, 'namespace' | 'name' | 'uid'>): EventDraft {
  const message = 'Node is not ready';
  return {
    about: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: 'Warning',
    reason: 'NodeNotReady',
    message,
  };
}
