import type { ContainerStatus, Pod } from '../../../machinery/api/pod.ts';
import type { PodStatus } from './build-api-status.ts';
import { isGiven } from './diff-meaning.ts';
import { isEndPhase } from '../pod-config/classify-pod.ts';
import { lostWith } from './build-container-statuses.ts';

/**
 * The final status of a pod of which nothing runs any more: containers without an observed end are marked terminated,
 * and a pod that has not failed or succeeded has failed; a static pod keeps its phase (kubelet status manager
 * `TerminatePod`).
 */
export function buildTerminatedStatus(pod: Pod, status: PodStatus, isStatic: boolean): PodStatus {
  const { containerStatuses, initContainerStatuses, phase } = status;
  return {
    ...status,
    ...(isEndPhase(phase) || isStatic ? {} : { phase: 'Failed' }),
    ...(containerStatuses === undefined || !hasInitialized(pod, status)
      ? {}
      : { containerStatuses: containerStatuses.map(asLost) }),
    ...(initContainerStatuses === undefined ? {} : { initContainerStatuses: endInits(initContainerStatuses) }),
  };
}

function asLost(container: ContainerStatus): ContainerStatus {
  return isGiven(container.state?.terminated)
    ? container
    : { ...container, state: { terminated: lostWith('terminated') } };
}

/** Marks init containers up to the last one that ever ran, at least the first. */
function endInits(statuses: readonly ContainerStatus[]): readonly ContainerStatus[] {
  const last = Math.max(0, statuses.findLastIndex(hasRun));
  return statuses.map((status, place) => (place <= last ? asLost(status) : status));
}

/** True if the init containers have completed. */
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
