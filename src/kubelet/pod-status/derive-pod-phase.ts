import type { Container, ContainerStatus, Pod, PodPhase } from '../../api/pod.ts';
import { isSidecar, listInits, listRegular, restartsAfter } from '../runtime/decide-restart.ts';
import { isStaticPod } from '../pod-config/classify-pod.ts';

export interface PhaseSources {
  readonly pod: Pod;
  /** Of all its containers, init containers among them. */
  readonly statuses: readonly ContainerStatus[];
  readonly workerSaysTerminal: boolean;
  /** A regular container was started in the sandbox that is there now. */
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

/** The phase that the containers' states come to (kubelet `getPhase`); that a terminal one stays is not decided here. */
export function derivePodPhase(sources: PhaseSources): PodPhase {
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

function phaseOf({ pod, workerSaysTerminal }: PhaseSources, counts: Counts): PodPhase {
  const { unknown, running, stopped, stoppedForGood, succeeded } = counts;
  if (unknown > 0 || (running === 0 && stopped === 0)) return 'Pending';
  if (running > 0) return 'Running';
  // Upstream knows no terminal phase of static pods but the one they come to by themselves.
  const over = workerSaysTerminal && !isStaticPod(pod);
  if (!over && stopped !== stoppedForGood) return 'Running';
  return stopped === succeeded ? 'Succeeded' : 'Failed';
}

/** The last exit of a container that does not run: of the one that is there, or of the one before it. */
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

/** A sidecar that stopped counts for nothing. */
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
    // What waits for its restart has not succeeded, however it ended.
    succeeded: stopped.filter((each) => find(each)?.state?.terminated?.exitCode === 0).length,
  };
}
