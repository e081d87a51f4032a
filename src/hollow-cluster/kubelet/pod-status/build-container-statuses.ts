import type { Container, ContainerState, ContainerStatus, Pod, VolumeMount } from '../../../machinery/api/pod.ts';
import { formatTime } from '../../../machinery/api/timestamps.ts';
import { findLatest, isSidecar, listInits, listRegular, shouldStart } from '../runtime/decide-restart.ts';
import type { ProbeResults, RuntimeContainerStatus, RuntimePodStatus, Waiting } from '../runtime/pod-runtime.ts';
import { isTerminating } from '../pod-config/classify-pod.ts';

/** Prefix of container ids, with the runtime's name as in the node status. */
const idPrefix = 'hollow://';
/** Exit code of a container whose end was not observed: 128 + SIGKILL. */
const lostExitCode = 137;

interface ContainerSources {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  /** The last statuses of these containers. */
  readonly previous: readonly ContainerStatus[] | undefined;
  readonly waiting: readonly Waiting[];
  readonly probes: Pick<ProbeResults, 'unstarted' | 'unready'>;
}

/** A status under construction; `lastState` is always present on the wire, even if empty. */
type Draft = ContainerStatus & Required<Pick<ContainerStatus, 'state' | 'lastState'>>;

/** The statuses of the regular containers, by name (kubelet `convertToAPIContainerStatuses`). */
export function buildContainerStatuses(sources: ContainerSources): readonly ContainerStatus[] {
  const containers = listRegular(sources.pod);
  const statuses = containers.map((container) => {
    const status = buildWaiting(sources, container, buildSeen(sources, container));
    return { ...status, ...buildProbed(sources, status) };
  });
  return sortByName(statuses);
}

export function sortByName(statuses: readonly ContainerStatus[]): readonly ContainerStatus[] {
  return statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The statuses of the init containers, in their order; undefined for a pod without any. */
export function buildInitStatuses(sources: ContainerSources): readonly ContainerStatus[] | undefined {
  const containers = listInits(sources.pod);
  if (containers.length === 0) return undefined;
  return containers.map((container) => {
    const status = buildInitWaiting(sources, container, buildSeen(sources, container));
    return { ...status, ...buildInitProbed(sources, container, status) };
  });
}

/** Status as the runtime reports it: the newest container of the name, and how the one before it ended. */
function buildSeen(sources: ContainerSources, container: Container): Draft {
  const [latest, before] = listByName(sources.runtime, container.name);
  const old = sources.previous?.find(({ name }) => name === container.name);
  if (latest === undefined) return buildUnseen(sources.pod, container, old);
  const status = buildStatus(container, latest, old);
  return before === undefined ? status : { ...status, lastState: buildState(before, old) };
}

function listByName({ containers }: RuntimePodStatus, name: string): readonly RuntimeContainerStatus[] {
  return containers.filter((each) => each.kind !== 'sandbox' && each.name === name);
}

/**
 * Status of a container that the runtime does not have: it was never started, or it ended and was removed, or, if its
 * last status was running, it was lost.
 */
function buildUnseen(pod: Pod, container: Container, old: ContainerStatus | undefined): Draft {
  const waiting = { reason: listInits(pod).length > 0 ? 'PodInitializing' : 'ContainerCreating' };
  const fresh = { ...describe(container), imageID: '', restartCount: 0, state: { waiting }, lastState: {} };
  if (old === undefined) return fresh;
  const { restartCount, state = {}, lastState = {} } = old;
  if (state.terminated !== undefined) return { ...old, state, lastState };
  if (state.running === undefined || lastState.terminated !== undefined) return { ...fresh, restartCount, lastState };
  const lost = { terminated: lostWith('deleted.  The container used to be Running') };
  return { ...fresh, restartCount: isTerminating(pod) ? restartCount : restartCount + 1, lastState: lost };
}

function describe({ name, image = '', volumeMounts }: Container): Pick<ContainerStatus, 'name' | 'image' | 'ready'> {
  const mounts = volumeMounts?.map(buildMount) ?? [];
  return { name, image, ready: false, ...(mounts.length === 0 ? {} : { volumeMounts: mounts }) };
}

function buildMount({ name, mountPath, readOnly }: VolumeMount): VolumeMount {
  return readOnly === true ? { name, mountPath, readOnly, recursiveReadOnly: 'Disabled' } : { name, mountPath };
}

function buildStatus(container: Container, seen: RuntimeContainerStatus, old: ContainerStatus | undefined): Draft {
  const { requests } = container.resources ?? {};
  return {
    ...describe(container),
    image: seen.image,
    imageID: seen.imageId,
    containerID: idPrefix + seen.id,
    restartCount: countRestarts(seen, old),
    state: buildState(seen, old),
    lastState: selectLastState(seen, old),
    resources: container.resources ?? {},
    ...(requests === undefined ? {} : { allocatedResources: requests }),
  };
}

/** Never decreases, whatever the runtime reports. */
function countRestarts({ state, restartCount }: RuntimeContainerStatus, old: ContainerStatus | undefined): number {
  if (old === undefined) return restartCount;
  const { state: oldState = {}, restartCount: oldCount } = old;
  const lost = state === 'unknown' && oldState.running !== undefined;
  const again = state === 'running' && oldState.terminated !== undefined && oldCount >= restartCount;
  return lost || again ? oldCount + 1 : Math.max(restartCount, oldCount);
}

/** If the runtime has no earlier container, the last known termination. */
function selectLastState(seen: RuntimeContainerStatus, old: ContainerStatus | undefined): ContainerState {
  const ended = old?.containerID === idPrefix + seen.id ? undefined : old?.state?.terminated;
  const terminated = ended ?? old?.lastState?.terminated;
  return terminated === undefined ? {} : { terminated };
}

function buildState(seen: RuntimeContainerStatus, old: ContainerStatus | undefined): ContainerState {
  const { state, startedAtMs } = seen;
  if (state === 'running') return { running: { startedAt: toTime(startedAtMs) } };
  if (state === 'exited') return { terminated: buildTerminated(seen) };
  if (state === 'unknown' && old?.state?.running !== undefined) return { terminated: lostWith('terminated') };
  return { waiting: {} };
}

function buildTerminated(seen: RuntimeContainerStatus): NonNullable<ContainerState['terminated']> {
  const { exitCode = 0, reason, message, startedAtMs, finishedAtMs, id } = seen;
  return {
    exitCode,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    startedAt: toTime(startedAtMs),
    finishedAt: toTime(finishedAtMs),
    containerID: idPrefix + id,
  };
}

/** Termination of a container whose end was not observed. */
export function lostWith(when: string): NonNullable<ContainerState['terminated']> {
  return {
    exitCode: lostExitCode,
    reason: 'ContainerStatusUnknown',
    message: `The container could not be located when the pod was ${when}`,
    startedAt: null,
    finishedAt: null,
  };
}

function toTime(ms: number | undefined): string | null {
  return ms === undefined ? null : formatTime(ms);
}

/** A container that should be started but was not has state waiting, with the reason. */
function buildWaiting({ pod, runtime, waiting }: ContainerSources, container: Container, status: Draft): Draft {
  const waitingFor = waiting.find((each) => each.container === container.name);
  if (waitingFor === undefined || !shouldStart(container, pod, runtime)) return status;
  const lastState = status.state.terminated === undefined ? status.lastState : status.state;
  return { ...status, lastState, state: { waiting: { reason: waitingFor.reason, message: waitingFor.message } } };
}

function buildInitWaiting(sources: ContainerSources, container: Container, status: Draft): Draft {
  const { pod, runtime } = sources;
  const latest = findLatest(runtime, container.name);
  if (latest?.state === 'exited' && latest.exitCode === 0) return status;
  const cleared = latest === undefined && !isSidecar(container) && status.state.waiting !== undefined;
  if (cleared && hasRegularContainer(pod, runtime)) return { ...status, state: { terminated: clearedAway } };
  return buildWaiting(sources, container, status);
}

/** A regular container exists, so the init container has completed. */
const clearedAway = {
  exitCode: 0,
  reason: 'Completed',
  message:
    'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
  startedAt: null,
  finishedAt: null,
} as const;

function hasRegularContainer(pod: Pod, runtime: RuntimePodStatus): boolean {
  return listRegular(pod).some(({ name }) => {
    const latest = findLatest(runtime, name);
    return latest !== undefined && latest.state !== 'unknown';
  });
}

type Probed = Required<Pick<ContainerStatus, 'started' | 'ready'>>;

/** Without probes: started when it runs, and ready when it is started. */
function buildProbed({ probes }: ContainerSources, { state, containerID = '' }: Draft): Probed {
  const id = containerID.slice(idPrefix.length);
  const started = state.running !== undefined && !probes.unstarted.has(id);
  return { started, ready: started && !probes.unready.has(id) };
}

/** An init container other than a sidecar is ready when it has succeeded. */
function buildInitProbed(sources: ContainerSources, container: Container, status: Draft): Probed {
  const probed = buildProbed(sources, status);
  return isSidecar(container) ? probed : { ...probed, ready: status.state.terminated?.exitCode === 0 };
}
