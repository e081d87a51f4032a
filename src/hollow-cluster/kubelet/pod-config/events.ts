import type { EventDraft } from '../../../machinery/api/event.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import { podReference } from './describe-pod-event.ts';
import type { PodSourceName } from './pod-update.ts';

const warning = (pod: Pod, reason: string, message: string): EventDraft => ({
  about: podReference(pod),
  type: 'Warning',
  reason,
  message,
});

/** A pod is ignored because another pod of the source has the same name. */
export function duplicatePodName(pod: Pod, source: PodSourceName): EventDraft {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const identity = `${name}_${namespace}(${uid}) from ${source}`;
  const message = `Error validating pod ${identity} due to duplicate pod name "${name}", ignoring`;
  return warning(pod, 'FailedValidation', message);
}

/** The pod's status could not be read from the runtime. */
export const failedSync = (pod: Pod, message: string): EventDraft =>
  warning(pod, 'FailedSync', `error determining status: ${message}`);

/** The runtime failed to kill the pod. */
export const failedKillPod = (pod: Pod, message: string): EventDraft =>
  warning(pod, 'FailedKillPod', `error killing pod: ${message}`);

/** The pod waits for the node's network. */
export const networkNotReadyEvent = (pod: Pod, message: string): EventDraft => warning(pod, 'NetworkNotReady', message);

/** The pod was not killed within its grace period. */
export const exceededGracePeriod = (pod: Pod): EventDraft =>
  warning(pod, 'ExceededGracePeriod', 'Container runtime did not kill the pod within specified grace period.');

/** The pod was not admitted. */
export const podRejected = (pod: Pod, reason: string, message: string): EventDraft => warning(pod, reason, message);
