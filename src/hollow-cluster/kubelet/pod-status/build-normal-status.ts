import type { Condition } from '../../../machinery/api/conditions.ts';
import type { ContainerState, ContainerStatus, Pod } from '../../../machinery/api/pod.ts';
import { formatTime, parseTimestamp } from '../../../machinery/api/timestamps.ts';
import type { PodStatus } from './build-api-status.ts';
import { isGiven } from './diff-meaning.ts';
import { sortByName } from './build-container-statuses.ts';

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
