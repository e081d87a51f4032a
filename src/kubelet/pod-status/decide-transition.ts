import type { ContainerStatus, Pod } from '../../api/pod.ts';
import type { PodStatus } from './derive-api-status.ts';
import { isGiven } from './derive-same-meaning.ts';

/**
 * The container that would come back to life though its pod's restart policy does not let it; undefined when the step is
 * legal. Sidecars may always restart (kubelet `checkContainerStateTransition`).
 */
export function decideIllegalTransition(pod: Pod, before: PodStatus, after: PodStatus): string | undefined {
  const policy = pod.spec?.restartPolicy ?? 'Always';
  if (policy === 'Always') return undefined;
  const inits = (before.initContainerStatuses ?? []).filter(({ name }) => !isSidecar(pod, name));
  return (
    findRisen(before.containerStatuses, after.containerStatuses, policy) ??
    findRisen(inits, after.initContainerStatuses, policy)
  );
}

function isSidecar({ spec }: Pod, name: string): boolean {
  return spec?.initContainers?.find((container) => container.name === name)?.restartPolicy === 'Always';
}

type Statuses = readonly ContainerStatus[] | undefined;

function findRisen(before: Statuses, after: Statuses, policy: string): string | undefined {
  return before?.find((old) => {
    const terminated = old.state?.terminated;
    if (!isGiven(terminated) || (terminated.exitCode !== 0 && policy === 'OnFailure')) return false;
    return (after ?? []).some(({ name, state }) => name === old.name && !isGiven(state?.terminated));
  })?.name;
}
