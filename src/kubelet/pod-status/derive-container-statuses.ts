import type { Container, ContainerState, ContainerStatus, Pod, VolumeMount } from '../../api/pod.ts';
import { formatTime } from '../../api/timestamps.ts';
import { findLatest, isDeleted, isSidecar, listInits, listRegular, shouldStart } from '../runtime/decide-restart.ts';
import type { RuntimeContainerStatus, RuntimePodStatus, Waiting } from '../runtime/pod-runtime.ts';

/** What stands before a container's id, as the node names its runtime. */
const idPrefix = 'hollow://';
/** Told of a container of which nobody saw the end: 128 + SIGKILL. */
const lostExitCode = 137;

export interface ContainerSources {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  /** What was said of these containers last. */
  readonly previous: readonly ContainerStatus[];
  readonly waiting: readonly Waiting[];
  readonly unstarted: ReadonlySet<string>;
  readonly unready: ReadonlySet<string>;
}

/** A status while it is put together; `lastState` is on the wire of every container, empty or not. */
type Draft = ContainerStatus & Required<Pick<ContainerStatus, 'state' | 'lastState'>>;

/** The statuses of the regular containers, by name (kubelet `convertToAPIContainerStatuses`). */
export function deriveContainerStatuses(sources: ContainerSources): readonly ContainerStatus[] {
  const containers = listRegular(sources.pod);
  const statuses = containers.map((container) => {
    const status = deriveWaiting(sources, container, deriveSeen(sources, container));
    return { ...status, ...deriveProbed(sources, status) };
  });
  return statuses.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The statuses of the init containers, in their order; undefined for a pod without any. */
export function deriveInitStatuses(sources: ContainerSources): readonly ContainerStatus[] | undefined {
  const containers = listInits(sources.pod);
  if (containers.length === 0) return undefined;
  return containers.map((container) => {
    const status = deriveInitWaiting(sources, container, deriveSeen(sources, container));
    return { ...status, ...deriveInitProbed(sources, container, status) };
  });
}

/** As the runtime shows it: the newest of its name, and how the one before it ended. */
function deriveSeen(sources: ContainerSources, container: Container): Draft {
  const [latest, before] = listByName(sources.runtime, container.name);
  const old = sources.previous.find(({ name }) => name === container.name);
  if (latest === undefined) return deriveUnseen(sources.pod, container, old);
  const status = deriveStatus(container, latest, old);
  return before === undefined ? status : { ...status, lastState: deriveState(before, old) };
}

function listByName({ containers }: RuntimePodStatus, name: string): readonly RuntimeContainerStatus[] {
  return containers.filter((each) => each.kind !== 'sandbox' && each.name === name);
}

/**
 * Of a container that the runtime does not have: it was never started, or it ended and was cleared away, or, where it ran
 * when it was last spoken of, it was lost.
 */
function deriveUnseen(pod: Pod, container: Container, old: ContainerStatus | undefined): Draft {
  const waiting = { reason: listInits(pod).length > 0 ? 'PodInitializing' : 'ContainerCreating' };
  const fresh = { ...describe(container), imageID: '', restartCount: 0, state: { waiting }, lastState: {} };
  if (old === undefined) return fresh;
  const { restartCount, state = {}, lastState = {} } = old;
  if (state.terminated !== undefined) return { ...old, state, lastState };
  if (state.running === undefined || lastState.terminated !== undefined) return { ...fresh, restartCount, lastState };
  const lost = { terminated: lostWith('deleted.  The container used to be Running') };
  return { ...fresh, restartCount: isDeleted(pod) ? restartCount : restartCount + 1, lastState: lost };
}

function describe({ name, image = '', volumeMounts }: Container): Pick<ContainerStatus, 'name' | 'image' | 'ready'> {
  const mounts = volumeMounts?.map(deriveMount) ?? [];
  return { name, image, ready: false, ...(mounts.length === 0 ? {} : { volumeMounts: mounts }) };
}

function deriveMount({ name, mountPath, readOnly }: VolumeMount): VolumeMount {
  return readOnly === true ? { name, mountPath, readOnly, recursiveReadOnly: 'Disabled' } : { name, mountPath };
}

function deriveStatus(container: Container, seen: RuntimeContainerStatus, old: ContainerStatus | undefined): Draft {
  const { requests } = container.resources ?? {};
  return {
    ...describe(container),
    image: seen.image,
    imageID: seen.imageId,
    containerID: idPrefix + seen.id,
    restartCount: deriveRestartCount(seen, old),
    state: deriveState(seen, old),
    lastState: deriveLastState(seen, old),
    resources: container.resources ?? {},
    ...(requests === undefined ? {} : { allocatedResources: requests }),
  };
}

/** It never falls, whatever the runtime has forgotten. */
function deriveRestartCount({ state, restartCount }: RuntimeContainerStatus, old: ContainerStatus | undefined): number {
  if (old === undefined) return restartCount;
  const { state: told = {}, restartCount: toldCount } = old;
  const lost = state === 'unknown' && told.running !== undefined;
  const again = state === 'running' && told.terminated !== undefined && toldCount >= restartCount;
  return lost || again ? toldCount + 1 : Math.max(restartCount, toldCount);
}

/** Where the runtime has no earlier container, what was said of it before. */
function deriveLastState(seen: RuntimeContainerStatus, old: ContainerStatus | undefined): ContainerState {
  const ended = old?.containerID === idPrefix + seen.id ? undefined : old?.state?.terminated;
  const terminated = ended ?? old?.lastState?.terminated;
  return terminated === undefined ? {} : { terminated };
}

function deriveState(seen: RuntimeContainerStatus, old: ContainerStatus | undefined): ContainerState {
  const { state, startedAtMs } = seen;
  if (state === 'running') return { running: { startedAt: toTime(startedAtMs) } };
  if (state === 'exited') return { terminated: deriveTerminated(seen) };
  if (state === 'unknown' && old?.state?.running !== undefined) return { terminated: lostWith('terminated') };
  return { waiting: {} };
}

function deriveTerminated(seen: RuntimeContainerStatus): NonNullable<ContainerState['terminated']> {
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

function lostWith(when: string): NonNullable<ContainerState['terminated']> {
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

/** One that is to be started again and was not waits, and says why. */
function deriveWaiting({ pod, runtime, waiting }: ContainerSources, container: Container, status: Draft): Draft {
  const why = waiting.find((each) => each.container === container.name);
  if (why === undefined || !shouldStart(container, pod, runtime)) return status;
  const lastState = status.state.terminated === undefined ? status.lastState : status.state;
  return { ...status, lastState, state: { waiting: { reason: why.reason, message: why.message } } };
}

function deriveInitWaiting(sources: ContainerSources, container: Container, status: Draft): Draft {
  const { pod, runtime } = sources;
  const latest = findLatest(runtime, container.name);
  if (latest?.state === 'exited' && latest.exitCode === 0) return status;
  const cleared = latest === undefined && !isSidecar(container) && status.state.waiting !== undefined;
  if (cleared && hasRegularContainer(pod, runtime)) return { ...status, state: { terminated: clearedAway } };
  return deriveWaiting(sources, container, status);
}

/** Regular containers are there, so it has been through, whatever became of it. */
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

/** Without probes: started once it runs, and ready once it is started. */
function deriveProbed(
  { unstarted, unready }: ContainerSources,
  { state, containerID = '' }: Draft,
): Required<Pick<ContainerStatus, 'started' | 'ready'>> {
  const id = containerID.slice(idPrefix.length);
  const started = state.running !== undefined && !unstarted.has(id);
  return { started, ready: started && !unready.has(id) };
}

/** An init container that does not stay is ready when it has succeeded. */
function deriveInitProbed(
  sources: ContainerSources,
  container: Container,
  status: Draft,
): Required<Pick<ContainerStatus, 'started' | 'ready'>> {
  const probed = deriveProbed(sources, status);
  return isSidecar(container) ? probed : { ...probed, ready: status.state.terminated?.exitCode === 0 };
}
