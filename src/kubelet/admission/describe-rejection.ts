import type { EventDraft } from '../../api/event.ts';
import type { Pod } from '../../api/pod.ts';
import type { PodStatus } from '../pod-status/derive-api-status.ts';
import { deriveObservedGeneration } from '../pod-status/derive-observed-generation.ts';

export interface Rejection {
  readonly status: PodStatus;
  readonly event: EventDraft;
}

/** What is said of a pod that may not run here (kubelet `rejectPod`). */
export function describeRejection(
  pod: Pod,
  { reason, message }: { readonly reason: string; readonly message: string },
): Rejection {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const { qosClass } = pod.status ?? {};
  return {
    status: {
      ...deriveObservedGeneration(pod),
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      ...(qosClass === undefined ? {} : { qosClass }),
    },
    event: { about: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid }, type: 'Warning', reason, message },
  };
}
