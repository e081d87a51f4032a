import type { Container, ContainerStatus, Pod, PodPhase } from '../../../machinery/api/pod.ts';
import { isSidecar, listInits, listRegular, restartsAfter } from '../runtime/decide-restart.ts';
import { isStaticPod } from '../pod-config/classify-pod.ts';

interface PhaseSources {
  readonly pod: Pod;
  /** Statuses of all its containers, including init containers. */
  readonly statuses: readonly ContainerStatus[];
  readonly isWorkerTerminal: boolean;
  /** A regular container was started in the current sandbox. */
  readonly hasInitialized: boolean;
}

interface Counts {
  readonly unknown: number;
  readonly running: number;
  readonly waiting: number;
  readonly stopped: number;
  readonly stoppedForGood: number;
  readonly succeeded: number;
}

/** The phase that follows from the containers' states (kubelet `getPhase`); does not keep an earlier terminal phase. */
export function classifyPodPhase(sources: PhaseSources): PodPhase {
  const { pod, statuses, hasInitialized } = sources;
  const inits = listInits(pod);
  const find = (container: Container): ContainerStatus | undefined =>
    statuses.find(({ name }) => name === container.name);
  const plain = inits.filter((container) => !isSidecar(container));
  if (plain.some((container) => hasFailedForGood(container, pod, find(container)))) return 'Failed';
  const sidecars = inits.filter(isSidecar);
  const pendingSidecar = sidecars.some((container) => isPendingSidecar(find(container)));
  const pending = plain.some((each) => isPendingInit(find(each))) || (pendingSidecar && !hasInitialized);
  const counts = count(pod, sidecars, find);
  if (pending || counts.waiting > 0) return 'Pending';
  return phaseOf(sources, counts);
}

function phaseOf({ pod, isWorkerTerminal }: PhaseSources, counts: Counts): PodPhase {
  const { unknown, running, stopped, stoppedForGood, succeeded } = counts;
  if (unknown > 0 || (running === 0 && stopped === 0)) return 'Pending';
  if (running > 0) return 'Running';
  // Upstream does not apply the worker's terminal state to static pods.
  const over = isWorkerTerminal && !isStaticPod(pod);
  if (!over && stopped !== stoppedForGood) return 'Running';
  return stopped === succeeded ? 'Succeeded' : 'Failed';
}

/** The last exit code of a container that does not run, of its current or its previous instance. */
function lastExitCode(status: ContainerStatus | undefined): number | undefined {
  const { state = {}, lastState = {} } = status ?? {};
  if (state.running !== undefined) return undefined;
  return (state.terminated ?? lastState.terminated)?.exitCode;
}

function hasFailedForGood(container: Container, pod: Pod, status: ContainerStatus | undefined): boolean {
  const exitCode = lastExitCode(status);
  return exitCode !== undefined && exitCode !== 0 && !restartsAfter(container, pod.spec, exitCode);
}

function isPendingInit(status: ContainerStatus | undefined): boolean {
  return lastExitCode(status) === undefined;
}

function isPendingSidecar(status: ContainerStatus | undefined): boolean {
  if (status === undefined || status.state?.terminated !== undefined) return false;
  if (status.state?.running !== undefined) return status.started !== true;
  return status.lastState?.terminated === undefined;
}

type Kind = 'unknown' | 'running' | 'waiting' | 'stopped';

function classify(status: ContainerStatus | undefined): Kind {
  const { state } = status ?? {};
  if (state?.running !== undefined) return 'running';
  if (lastExitCode(status) !== undefined) return 'stopped';
  return state?.waiting === undefined ? 'unknown' : 'waiting';
}

/** A stopped sidecar is not counted. */
function count(
  pod: Pod,
  sidecars: readonly Container[],
  find: (container: Container) => ContainerStatus | undefined,
): Counts {
  const containers = listRegular(pod);
  const kinds = containers.map((container) => classify(find(container)));
  const sidecarKinds = sidecars.map((container) => classify(find(container)));
  const among = (kind: Kind): number => [...kinds, ...sidecarKinds].filter((each) => each === kind).length;
  const stopped = containers.filter((_, at) => kinds[at] === 'stopped');
  return {
    unknown: among('unknown'),
    running: among('running'),
    waiting: among('waiting'),
    stopped: stopped.length,
    stoppedForGood: stopped.filter((each) => !restartsAfter(each, pod.spec, lastExitCode(find(each)) ?? 0)).length,
    // A container that waits for its restart has not succeeded, whatever its exit code.
    succeeded: stopped.filter((each) => find(each)?.state?.terminated?.exitCode === 0).length,
  };
}
