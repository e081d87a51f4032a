import type { Container, Pod, PodSpec } from '../../api/pod.ts';
import type { RuntimeContainerStatus, RuntimePodStatus } from './pod-runtime.ts';

/** A pod's regular containers. */
export function listRegular({ spec }: Pod): readonly Container[] {
  return spec?.containers ?? [];
}

/** A pod's init containers, sidecars among them. */
export function listInits({ spec }: Pod): readonly Container[] {
  return spec?.initContainers ?? [];
}

/** Its deletion was asked for. */
export function isDeleted({ metadata }: Pod): boolean {
  return (metadata.deletionTimestamp ?? undefined) !== undefined;
}

/** An init container that stays (upstream `IsRestartableInitContainer`). */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** Whether its policy, or else the pod's, wants a container again that exited so (upstream `ContainerShouldRestart`). */
export function restartsAfter(container: Container, spec: PodSpec | undefined, exitCode: number): boolean {
  const policy = container.restartPolicy ?? spec?.restartPolicy ?? 'Always';
  if (policy === 'Never') return false;
  return policy === 'OnFailure' ? exitCode !== 0 : true;
}

/**
 * Whether the next pass over its pod is to start this container: it never ran, nobody knows how it is, or its policy
 * wants it again. Nothing of a pod that is being deleted is started (upstream `ShouldContainerBeRestarted`).
 */
export function shouldStart(container: Container, pod: Pod, status: RuntimePodStatus): boolean {
  if (isDeleted(pod)) return false;
  const latest = findLatest(status, container.name);
  if (latest === undefined) return true;
  if (latest.state === 'running') return false;
  return latest.state !== 'exited' || restartsAfter(container, pod.spec, latest.exitCode ?? 0);
}

/** The newest container of this name; sandboxes have none. */
export function findLatest(status: RuntimePodStatus, name: string): RuntimeContainerStatus | undefined {
  return status.containers.find((each) => each.kind !== 'sandbox' && each.name === name);
}

/** A pod's sandboxes, the newest first. */
export function listSandboxes(status: RuntimePodStatus): readonly RuntimeContainerStatus[] {
  return status.containers.filter((each) => each.kind === 'sandbox');
}

/**
 * Whether a pod needs another sandbox: it has none, its newest is not up, or more than one is (upstream
 * `PodSandboxChanged`).
 */
export function needsSandbox(status: RuntimePodStatus): boolean {
  const sandboxes = listSandboxes(status);
  const up = sandboxes.filter((each) => each.state === 'running');
  return sandboxes[0]?.state !== 'running' || up.length > 1;
}
