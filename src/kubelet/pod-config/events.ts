import type { EventDraft } from '../../api/event.ts';
import type { Pod } from '../../api/pod.ts';
import type { PodSourceName } from './pod-update.ts';

/** Two pods of one source bear the same name: this one is left out. */
export function duplicatePodName(pod: Pod, source: PodSourceName): EventDraft {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  return {
    about: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: 'Warning',
    reason: 'FailedValidation',
    message: `Error validating pod ${name}_${namespace}(${uid}) from ${source} due to duplicate pod name "${name}", ignoring`,
  };
}
