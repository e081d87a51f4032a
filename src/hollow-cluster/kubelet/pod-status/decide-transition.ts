import type { ContainerStatus, Pod } from '../../../machinery/api/pod.ts';
import type { PodStatus } from './build-api-status.ts';
import { isGiven } from './diff-meaning.ts';

/**
 * The container whose state would change from terminated although its pod's restart policy forbids it; undefined if the
 * transition is legal. Sidecars may always restart (kubelet `checkContainerStateTransition`).
 */
export function decideIllegalTransition(pod: Pod, before: PodStatus, after: PodStatus): string | undefined {
  const policy = pod.spec?.restartPolicy ?? 'Always';
  if (policy === 'Always') return undefined;
  const inits = (before.initContainerStatuses ?? []).filter(({ name }) => !isSidecar(pod, name));
  return (
    findRestarted(before.containerStatuses, after.containerStatuses, policy) ??
    findRestarted(inits, after.initContainerStatuses, policy)
  );
}

function isSidecar({ spec }: Pod, name: string): boolean {
  return spec?.initContainers?.find((container) => container.name === name)?.restartPolicy === 'Always';
}

type Statuses = readonly ContainerStatus[] | undefined;

function findRestarted(before: Statuses, after: Statuses, policy: string): string | undefined {
  return before?.find((old) => {
    const terminated = old.state?.terminated;
    if (!isGiven(terminated) || (terminated.exitCode !== 0 && policy === 'OnFailure')) return false;
    return (after ?? []).some(({ name, state }) => name === old.name && !isGiven(state?.terminated));
  })?.name;
}
