import { type Condition, findCondition, listConditions } from '../../../machinery/api/conditions.ts';
import type { ContainerState, ContainerStatus, Pod } from '../../../machinery/api/pod.ts';
import { formatTime, parseTimestamp } from '../../../machinery/api/timestamps.ts';
import { isEndPhase } from '../pod-config/classify-pod.ts';
import type { PodStatus } from './build-api-status.ts';
import { lostWith, sortByName } from './build-container-statuses.ts';
import { ownConditionTypes } from './build-own-conditions.ts';
import { isGiven } from './diff-api-status.ts';

/** Conditions whose transition times the status manager sets. */
const timedTypes: readonly string[] = [...ownConditionTypes, 'DisruptionTarget'];

interface NextStatus {
  readonly pod: Pod;
  /** The last status, or else the API server's. */
  readonly before: PodStatus;
  readonly wanted: PodStatus;
  readonly nowMs: number;
}

/**
 * The status with its times: a condition with an unchanged status keeps its transition time, a started pod keeps its
 * start time (kubelet status manager `updateStatusInternal`).
 */
export function buildNextStatus({ pod, before, wanted, nowMs }: NextStatus): PodStatus {
  const now = formatTime(nowMs);
  const conditionsBefore = listConditions(before.conditions);
  const conditions = listConditions(wanted.conditions).map((condition) =>
    timedTypes.includes(condition.type) ? withTransition(conditionsBefore, condition, now) : condition,
  );
  const startTime = before.startTime ?? wanted.startTime ?? now;
  return buildNormalStatus(pod, { ...wanted, ...(conditions.length === 0 ? {} : { conditions }), startTime });
}

function withTransition(conditionsBefore: readonly Condition[], condition: Condition, now: string): Condition {
  const known = findCondition(conditionsBefore, condition.type);
  const kept = known?.status === condition.status ? known.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: kept ?? now };
}

/** All termination messages of a pod together, in bytes (kubelet `MaxPodTerminationMessageLogLength`). */
const terminationMessageBytesMax = 12_288;

/**
 * The status as an API server returns it: times in whole seconds, messages truncated to each container's share,
 * containers by name, init containers in spec order. Otherwise it would always look changed (kubelet
 * `normalizeStatus`).
 */
export function buildNormalStatus(pod: Pod, status: PodStatus): PodStatus {
  const messageBytesMax = Math.floor(terminationMessageBytesMax / Math.max(1, countContainers(pod)));
  const normal = (container: ContainerStatus): ContainerStatus => normalContainer(container, messageBytesMax);
  const { startTime, conditions, containerStatuses, initContainerStatuses } = status;
  return {
    ...status,
    ...(startTime === undefined ? {} : { startTime: wholeSeconds(startTime) }),
    ...(isGiven(conditions) ? { conditions: conditions.map(normalCondition) } : {}),
    ...(containerStatuses === undefined ? {} : { containerStatuses: sortByName(containerStatuses.map(normal)) }),
    ...(initContainerStatuses === undefined
      ? {}
      : { initContainerStatuses: inSpecOrder(pod, initContainerStatuses.map(normal)) }),
  };
}

function countContainers({ spec }: Pod): number {
  return (spec?.containers?.length ?? 0) + (spec?.initContainers?.length ?? 0);
}

function inSpecOrder(pod: Pod, statuses: readonly ContainerStatus[]): readonly ContainerStatus[] {
  const order = (pod.spec?.initContainers ?? []).map(({ name }) => name);
  return statuses.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

function normalCondition(condition: Condition): Condition {
  const { lastTransitionTime } = condition;
  if (!isGiven(lastTransitionTime)) return condition;
  return { ...condition, lastTransitionTime: wholeSeconds(lastTransitionTime) };
}

function normalContainer(container: ContainerStatus, messageBytesMax: number): ContainerStatus {
  const { state, lastState } = container;
  return {
    ...container,
    ...(state === undefined ? {} : { state: normalState(state, messageBytesMax) }),
    ...(lastState === undefined ? {} : { lastState: normalState(lastState, messageBytesMax) }),
  };
}

function normalState(state: ContainerState, messageBytesMax: number): ContainerState {
  const { running, terminated } = state;
  if (isGiven(terminated)) return { ...state, terminated: normalEnd(terminated, messageBytesMax) };
  if (!isGiven(running?.startedAt)) return state;
  return { ...state, running: { ...running, startedAt: wholeSeconds(running.startedAt) } };
}

type End = NonNullable<ContainerState['terminated']>;

function normalEnd(end: End, messageBytesMax: number): End {
  const { startedAt, finishedAt, message } = end;
  return {
    ...end,
    ...(isGiven(startedAt) ? { startedAt: wholeSeconds(startedAt) } : {}),
    ...(isGiven(finishedAt) ? { finishedAt: wholeSeconds(finishedAt) } : {}),
    ...(message === undefined ? {} : { message: cutBytes(message, messageBytesMax) }),
  };
}

function wholeSeconds(text: string): string {
  const ms = parseTimestamp(text);
  return ms === undefined ? text : formatTime(ms);
}

/** The beginning of a text in at most this many bytes of UTF-8, without splitting a character. */
function cutBytes(text: string, bytesMax: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}

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
