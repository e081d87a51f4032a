import type { Container, Pod, PodSpec } from '../../../machinery/api/pod.ts';
import type { RuntimeContainerStatus, RuntimePodStatus } from './pod-runtime.ts';
import { isTerminating } from '../pod-config/classify-pod.ts';

/** A pod's regular containers. */
export function listRegular({ spec }: Pod): readonly Container[] {
  return spec?.containers ?? [];
}

/** A pod's init containers, including sidecars. */
export function listInits({ spec }: Pod): readonly Container[] {
  return spec?.initContainers ?? [];
}

/** An init container that keeps running (upstream `IsRestartableInitContainer`). */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/**
 * True if the restart policy of the container, or else of the pod, requires a restart (upstream
 * `ContainerShouldRestart`).
 */
export function restartsAfter(container: Container, spec: PodSpec | undefined, exitCode: number): boolean {
  const policy = container.restartPolicy ?? spec?.restartPolicy ?? 'Always';
  if (policy === 'Never') return false;
  return policy === 'OnFailure' ? exitCode !== 0 : true;
}

/**
 * True if the next sync starts this container: it never ran, its state is unknown, or the restart policy requires a
 * restart. No container of a pod that is being deleted is started (upstream `ShouldContainerBeRestarted`).
 */
export function shouldStart(container: Container, pod: Pod, status: RuntimePodStatus): boolean {
  if (isTerminating(pod)) return false;
  const latest = findLatest(status, container.name);
  if (latest === undefined) return true;
  if (latest.state === 'running') return false;
  return latest.state !== 'exited' || restartsAfter(container, pod.spec, latest.exitCode ?? 0);
}

/** The newest container of this name; sandboxes have no name. */
export function findLatest(status: RuntimePodStatus, name: string): RuntimeContainerStatus | undefined {
  return status.containers.find((each) => each.kind !== 'sandbox' && each.name === name);
}

/** A pod's sandboxes, newest first. */
export function listSandboxes(status: RuntimePodStatus): readonly RuntimeContainerStatus[] {
  return status.containers.filter((each) => each.kind === 'sandbox');
}

/** The newest container of this name, if it was created in the newest sandbox and that is ready. */
export function findActive(status: RuntimePodStatus, name: string): RuntimeContainerStatus | undefined {
  const newest = listSandboxes(status)[0];
  const latest = findLatest(status, name);
  const isActive = newest?.state === 'running' && (latest?.sandboxId ?? newest.id) === newest.id;
  return isActive ? latest : undefined;
}

/** True if a regular container was created in the ready sandbox (upstream `HasAnyActiveRegularContainerStarted`). */
export function hasActiveRegular(pod: Pod, status: RuntimePodStatus): boolean {
  return listRegular(pod).some(({ name }) => findActive(status, name) !== undefined);
}

/**
 * Why a pod needs a new sandbox, as in the message of its condition PodReadyToStartContainers; undefined if it needs none
 * (upstream `PodSandboxChanged`).
 */
export function describeSandboxProblem(status: RuntimePodStatus): string | undefined {
  const sandboxes = listSandboxes(status);
  const [newest] = sandboxes;
  if (newest === undefined) return 'no pod sandbox exists';
  const up = sandboxes.filter((each) => each.state === 'running');
  if (up.length > 1) return 'multiple pod sandboxes are ready and need to be reconciled';
  return newest.state === 'running' ? undefined : 'pod sandbox is not ready';
}
