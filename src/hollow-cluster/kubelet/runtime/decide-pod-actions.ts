import type { Container, Pod } from '../../../machinery/api/pod.ts';
import {
  describeSandboxProblem,
  findActive,
  findLatest,
  hasActiveRegular,
  isSidecar,
  listInits,
  listRegular,
  listSandboxes,
  restartsAfter,
  shouldStart,
} from './decide-restart.ts';
import type { ProbeResults, RuntimeContainerStatus, RuntimePodStatus } from './pod-runtime.ts';

/** A running container to be killed while its pod stays. */
export interface ContainerKill {
  readonly id: string;
  readonly name: string;
  /** Message of the Killing Event. */
  readonly message: string;
  /** Instead of the pod's grace period. */
  readonly graceMs?: number | undefined;
}

/** The actions of one sync of a pod, in this order. */
export interface PodActions {
  /** Kill all containers of the pod first. */
  readonly killPod: boolean;
  /** Undefined: the sandbox stays, or no new one is needed. */
  readonly newSandboxAttempt: number | undefined;
  readonly toKill: readonly ContainerKill[];
  readonly initToStart: readonly Container[];
  readonly toStart: readonly Container[];
}

const nothing: PodActions = { killPod: false, newSandboxAttempt: undefined, toKill: [], initToStart: [], toStart: [] };

/** A pod as the runtime reports it, with the results of its probes. */
interface Observed {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly probes: ProbeResults;
}

/** The actions that bring a pod from its status to its spec (upstream `computePodActions`). */
export function decidePodActions(pod: Pod, status: RuntimePodStatus, probes: ProbeResults): PodActions {
  if (describeSandboxProblem(status) !== undefined) return decideNewSandbox(pod, status);
  const observed = { pod, status, probes };
  const init = decideInit(observed);
  if (init.failed) return { ...nothing, killPod: true };
  const base = { ...nothing, initToStart: init.toStart, toKill: init.toKill };
  return init.initialized ? decideContainers(observed, base) : base;
}

/** Without a sandbox the pod starts again, unless it has run and its restart policy forbids a restart. */
function decideNewSandbox(pod: Pod, status: RuntimePodStatus): PodActions {
  const [newest] = listSandboxes(status);
  const kill = { ...nothing, killPod: true };
  const hasContainers = status.containers.some(({ kind }) => kind !== 'sandbox');
  if (!restartsOnFailure(pod) && newest !== undefined && hasContainers) return kill;
  const toStart = listRegular(pod).filter((each) => !hasSucceededForGood(each, pod, status));
  if (toStart.length === 0 && hasRegularContainer(pod, status)) return kill;
  const newSandboxAttempt = newest === undefined ? 0 : newest.restartCount + 1;
  const [first] = listInits(pod);
  const start = first === undefined ? { toStart } : { initToStart: [first] };
  return { ...kill, newSandboxAttempt, ...start };
}

function restartsOnFailure(pod: Pod, container?: Container): boolean {
  return (container?.restartPolicy ?? pod.spec?.restartPolicy) !== 'Never';
}

function hasSucceededForGood(container: Container, pod: Pod, status: RuntimePodStatus): boolean {
  const latest = findLatest(status, container.name);
  const policy = container.restartPolicy ?? pod.spec?.restartPolicy;
  return policy === 'OnFailure' && latest?.state === 'exited' && latest.exitCode === 0;
}

function hasRegularContainer(pod: Pod, status: RuntimePodStatus): boolean {
  return listRegular(pod).some(({ name }) => findLatest(status, name) !== undefined);
}

function decideContainers(observed: Observed, base: PodActions): PodActions {
  const decisions = listRegular(observed.pod).map((container) => ({
    container,
    ...decideContainer(observed, container),
  }));
  const toStart = decisions.filter(({ start }) => start).map(({ container }) => container);
  const toKill = [...base.toKill, ...decisions.flatMap(({ kill }) => kill ?? [])];
  // Sidecars alone do not keep a pod running.
  const over = toStart.length === 0 && !decisions.some(({ keep }) => keep);
  return { ...base, killPod: over, toKill, toStart, initToStart: over ? [] : base.initToStart };
}

interface ContainerDecision {
  readonly keep: boolean;
  readonly start: boolean;
  readonly kill: ContainerKill | undefined;
}

/**
 * A container with a changed definition is killed and started again, regardless of the restart policy; one whose probe
 * failed only if that allows it.
 */
function decideContainer({ pod, status, probes }: Observed, container: Container): ContainerDecision {
  const latest = findLatest(status, container.name);
  const runs = latest?.state === 'running';
  if (runs && !isChanged(container, latest)) {
    const failed = probes.failed.get(latest.id);
    if (failed === undefined) return { keep: true, start: false, kill: undefined };
    const start = restartsOnFailure(pod, container);
    const message = `Container ${container.name} failed ${failed} probe${start ? ', will be restarted' : ''}`;
    return { keep: false, start, kill: killUnhealthy(latest, container, failed, message) };
  }
  const kill = latest === undefined ? undefined : decideKill(latest);
  return { keep: false, start: runs || shouldStart(container, pod, status), kill };
}

function killUnhealthy(
  { id, name }: RuntimeContainerStatus,
  container: Container,
  failed: 'startup' | 'liveness',
  message: string,
): ContainerKill {
  const probe = failed === 'startup' ? container.startupProbe : container.livenessProbe;
  const seconds = probe?.terminationGracePeriodSeconds;
  return { id, name, message, graceMs: seconds === undefined ? undefined : seconds * 1_000 };
}

function decideKill(latest: RuntimeContainerStatus): ContainerKill | undefined {
  const { id, name, state } = latest;
  if (state === 'unknown') return killUnknown(latest, 'Container');
  if (state !== 'running') return undefined;
  return { id, name, message: `Container ${name} definition changed, will be restarted` };
}

/** A container has changed when its image has (upstream hashes name and image). */
function isChanged(container: Container, running: RuntimeContainerStatus): boolean {
  return (container.image ?? '') !== running.image;
}

function killUnknown({ id, name }: RuntimeContainerStatus, what: string): ContainerKill {
  return { id, name, message: `${what} is in "unknown" state, try killing it before restart` };
}

interface InitWalk {
  initialized: boolean;
  /** An init container failed and is not restarted. */
  failed: boolean;
  /** A later init container, or a regular container, has been created: all earlier ones have completed. */
  passed: boolean;
  readonly toStart: Container[];
  readonly toKill: ContainerKill[];
}

/**
 * Walks the init containers of the current sandbox from the last to the first: those before one that has run have completed,
 * even if the runtime does not have them any more (upstream `computeInitContainerActions`).
 */
function decideInit(observed: Observed): InitWalk {
  const { pod, status } = observed;
  const containers = listInits(pod);
  const passed = hasActiveRegular(pod, status);
  const initialized = passed || containers.length === 0;
  const walk: InitWalk = { initialized, passed, failed: false, toStart: [], toKill: [] };
  for (const container of containers.toReversed()) if (!walk.failed) stepInit(walk, observed, container);
  const [first] = containers;
  if (first !== undefined && !walk.passed && !walk.failed) walk.toStart.push(first);
  return { ...walk, initialized: walk.initialized && !walk.failed, toStart: walk.toStart.reverse() };
}

function stepInit(walk: InitWalk, observed: Observed, container: Container): void {
  const { pod, status } = observed;
  const latest = findActive(status, container.name);
  if (latest === undefined) {
    if (walk.passed && isSidecar(container)) walk.toStart.push(container);
    return;
  }
  if (walk.passed && !isSidecar(container)) return;
  if (latest.state === 'running') onRunningInit(walk, observed, container, latest);
  else if (latest.state === 'exited') onExitedInit(walk, pod, container, latest);
  else onUnknownInit(walk, pod, container, latest);
  walk.passed = true;
}

/** A sidecar counts as initialized once it has started; its other probes matter after that. */
function onRunningInit(walk: InitWalk, observed: Observed, container: Container, latest: RuntimeContainerStatus): void {
  const { pod, probes } = observed;
  if (!isSidecar(container)) return;
  const { id, name } = latest;
  const unstarted = probes.unstarted.has(id);
  if (!unstarted) completeInit(walk, pod, container);
  const failed = probes.failed.get(id);
  if (!unstarted && isChanged(container, latest)) {
    walk.toKill.push({ id, name, message: `Init container ${container.name} definition changed` });
  } else if (failed === undefined) return;
  else walk.toKill.push(killUnhealthy(latest, container, failed, `Init container ${name} failed ${failed} probe`));
  walk.toStart.push(container);
}

function onExitedInit(walk: InitWalk, pod: Pod, container: Container, latest: RuntimeContainerStatus): void {
  const exitCode = latest.exitCode ?? 0;
  if (isSidecar(container)) walk.toStart.push(container);
  else if (exitCode === 0) completeInit(walk, pod, container);
  else if (restartsAfter(container, pod.spec, exitCode)) walk.toStart.push(container);
  else walk.failed = true;
}

/**
 * A container that is created but not started, or in state unknown, is started again; an unknown one is killed first.
 */
function onUnknownInit(walk: InitWalk, pod: Pod, container: Container, latest: RuntimeContainerStatus): void {
  if (latest.state === 'unknown' && !isSidecar(container) && !restartsOnFailure(pod)) {
    walk.failed = true;
    return;
  }
  if (latest.state === 'unknown') walk.toKill.push(killUnknown(latest, 'Init container'));
  walk.toStart.push(container);
}

/** This init container has completed: the next one is due, unless it has already been started. */
function completeInit(walk: InitWalk, pod: Pod, container: Container): void {
  const containers = listInits(pod);
  const next = containers[containers.indexOf(container) + 1];
  if (next === undefined) walk.initialized = true;
  else if (!walk.passed) walk.toStart.push(next);
}
