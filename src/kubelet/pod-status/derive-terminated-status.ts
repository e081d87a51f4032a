import type { ContainerStatus, Pod } from '../../api/pod.ts';
import type { PodStatus } from './derive-api-status.ts';
import { isGiven } from './derive-same-meaning.ts';

/** Said of a container whose end nobody has seen. */
const lost = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
  startedAt: null,
  finishedAt: null,
} as const;

/**
 * The last status of a pod of which nothing runs any more: containers that were not seen to end have ended somehow, and a
 * pod that has not failed or succeeded has failed; a static pod keeps its phase (kubelet status manager `TerminatePod`).
 */
export function deriveTerminatedStatus(pod: Pod, status: PodStatus, isStatic: boolean): PodStatus {
  const { containerStatuses, initContainerStatuses, phase } = status;
  const ended = phase === 'Failed' || phase === 'Succeeded';
  return {
    ...status,
    ...(ended || isStatic ? {} : { phase: 'Failed' }),
    ...(containerStatuses === undefined || !hasInitialized(pod, status)
      ? {}
      : { containerStatuses: containerStatuses.map(asLost) }),
    ...(initContainerStatuses === undefined ? {} : { initContainerStatuses: endInits(initContainerStatuses) }),
  };
}

function asLost(container: ContainerStatus): ContainerStatus {
  return isGiven(container.state?.terminated) ? container : { ...container, state: { terminated: lost } };
}

/** Init containers up to the last that ever ran; the first has been tried in any case. */
function endInits(statuses: readonly ContainerStatus[]): readonly ContainerStatus[] {
  const last = Math.max(0, statuses.findLastIndex(hasRun));
  return statuses.map((status, place) => (place <= last ? asLost(status) : status));
}

/** Has anything beyond the init containers had its chance? */
function hasInitialized(pod: Pod, status: PodStatus): boolean {
  const last = pod.spec?.initContainers?.at(-1);
  if (last === undefined || (status.containerStatuses ?? []).some(hasRun)) return true;
  const found = status.initContainerStatuses?.find(({ name }) => name === last.name);
  if (found === undefined) return false;
  return last.restartPolicy === 'Always' ? found.started === true : hasSucceeded(found);
}

function hasSucceeded({ state, lastState }: ContainerStatus): boolean {
  return state?.terminated?.exitCode === 0 || lastState?.terminated?.exitCode === 0;
}

function hasRun({ state, lastState }: ContainerStatus): boolean {
  return isGiven(state?.running) || isGiven(state?.terminated) || isGiven(lastState?.terminated);
}
