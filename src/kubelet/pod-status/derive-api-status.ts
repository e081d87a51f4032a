import { type Condition, findCondition, listConditions } from '../../api/conditions.ts';
import type { ContainerStatus, Pod, PodPhase } from '../../api/pod.ts';
import { findLatest, listRegular, listSandboxes } from '../runtime/decide-restart.ts';
import type { RuntimePodStatus, Waiting } from '../runtime/pod-runtime.ts';
import { deadlineExceeded, isPastDeadline } from './decide-active-deadline.ts';
import { deriveContainerStatuses, deriveInitStatuses } from './derive-container-statuses.ts';
import { deriveObservedGeneration } from './derive-observed-generation.ts';
import { deriveOwnConditions } from './derive-own-conditions.ts';
import { derivePodPhase } from './derive-pod-phase.ts';
import { derivePodResources } from './derive-pod-resources.ts';
import { deriveQosClass } from './derive-qos-class.ts';

export type PodStatus = NonNullable<Pod['status']>;

/** What a pod's status follows from. */
export interface StatusSources {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  /** What was last said of it; undefined: nothing yet in this kubelet's life, so what the API server says counts. */
  readonly previous: PodStatus | undefined;
  /** Its worker says that nothing of it will be started again. */
  readonly workerSaysTerminal: boolean;
  /** Why containers wait, as the last pass over it found. */
  readonly waiting: readonly Waiting[];
  /** The node's addresses, the main one first. */
  readonly hostIPs: readonly string[];
  /** Wall time: for the pod's active deadline, which does not count where it is absent. */
  readonly nowMs?: number;
  /** Containers, by the runtime's id, whose startup probe has not succeeded yet. */
  readonly unstarted?: ReadonlySet<string>;
  /** Containers, by the runtime's id, whose readiness probe has not succeeded. */
  readonly unready?: ReadonlySet<string>;
}

/**
 * The status as the API server is to see it (kubelet `generateAPIPodStatus`). When its conditions changed and when it
 * started is the status manager's business.
 */
export function deriveApiStatus(sources: StatusSources): PodStatus {
  const { pod, runtime } = sources;
  const previous = sources.previous ?? pod.status ?? {};
  const containerStatuses = deriveContainerStatuses(containerSources(sources, previous.containerStatuses));
  const initStatuses = deriveInitStatuses(containerSources(sources, previous.initContainerStatuses));
  const statuses = [...(initStatuses ?? []), ...containerStatuses];
  const end = derivePhase(sources, previous, statuses);
  const others = deriveOthers(pod, previous);
  const own = deriveOwnConditions({ pod, runtime, previous, phase: end.phase, statuses, others });
  const resources = derivePodResources(pod);
  return {
    ...end,
    ...deriveObservedGeneration(pod),
    conditions: [...others, ...own],
    ...deriveAddresses(sources, previous),
    qosClass: deriveQosClass(pod),
    resources,
    ...(resources.requests === undefined ? {} : { allocatedResources: resources.requests }),
    ...(initStatuses === undefined ? {} : { initContainerStatuses: initStatuses }),
    containerStatuses,
  };
}

function containerSources(
  { pod, runtime, waiting, unstarted = none, unready = none }: StatusSources,
  previous: readonly ContainerStatus[] | undefined,
): Parameters<typeof deriveContainerStatuses>[0] {
  return { pod, runtime, previous: previous ?? [], waiting, unstarted, unready };
}

const none: ReadonlySet<string> = new Set();

type End = Pick<PodStatus, 'reason' | 'message'> & { readonly phase: PodPhase };

/**
 * A phase that is terminal, to us or to the API server, is never left; whoever gave a reason for a phase is heard for as
 * long as it lasts; a pod that was active for too long has failed.
 */
function derivePhase(sources: StatusSources, previous: PodStatus, statuses: readonly ContainerStatus[]): End {
  const { pod, workerSaysTerminal } = sources;
  const stored = pod.status ?? {};
  const told = toEnd(stored.phase);
  if (isOverdue(sources, previous)) return { phase: told ?? 'Failed', ...deadlineExceeded };
  const hasInitialized = hasActiveContainer(sources);
  const seen = derivePodPhase({ pod, statuses, workerSaysTerminal, hasInitialized });
  const phase = toEnd(previous.phase) ?? told ?? seen;
  return { phase: told ?? phase, ...(phase === previous.phase ? keptReason(previous, stored) : {}) };
}

function toEnd(phase: string | undefined): 'Succeeded' | 'Failed' | undefined {
  return phase === 'Succeeded' || phase === 'Failed' ? phase : undefined;
}

function isOverdue({ pod, nowMs }: StatusSources, previous: PodStatus): boolean {
  return nowMs !== undefined && isPastDeadline(pod, previous.startTime ?? pod.status?.startTime, nowMs);
}

function keptReason(previous: PodStatus, told: PodStatus): Pick<PodStatus, 'reason' | 'message'> {
  const reason = previous.reason ?? told.reason;
  const message = previous.message ?? told.message;
  return { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) };
}

/** Has a regular container been created in the sandbox that is up? */
function hasActiveContainer({ pod, runtime }: StatusSources): boolean {
  const newest = listSandboxes(runtime)[0];
  if (newest?.state !== 'running') return false;
  return listRegular(pod).some(({ name }) => {
    const latest = findLatest(runtime, name);
    return latest !== undefined && (latest.sandboxId ?? newest.id) === newest.id;
  });
}

const ownTypes: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
]);

/** Conditions that others keep, as the API server has them, and why the pod was disrupted, as we said it last. */
function deriveOthers(pod: Pod, previous: PodStatus): readonly Condition[] {
  const others = listConditions(pod.status?.conditions).filter(({ type }) => !ownTypes.has(type));
  const disruption = findCondition(listConditions(previous.conditions), 'DisruptionTarget');
  if (disruption === undefined) return others;
  return [...others.filter(({ type }) => type !== disruption.type), disruption];
}

type Addresses = Pick<PodStatus, 'hostIP' | 'hostIPs' | 'podIP' | 'podIPs'>;

/**
 * A pod on the host's network has the host's addresses; one of which nothing is left at its end has those that it had.
 */
function deriveAddresses(sources: StatusSources, previous: PodStatus): Addresses {
  const { hostIPs } = sources;
  const own = derivePodIPs(sources, previous);
  const [hostIP] = hostIPs;
  const [podIP] = own;
  return {
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: hostIPs.map((ip) => ({ ip })) }),
    ...(podIP === undefined ? {} : { podIP, podIPs: own.map((ip) => ({ ip })) }),
  };
}

function derivePodIPs(sources: StatusSources, { podIPs = [] }: PodStatus): readonly string[] {
  const { pod, runtime, hostIPs, workerSaysTerminal } = sources;
  if (runtime.ips.length > 0) return runtime.ips;
  if (pod.spec?.hostNetwork === true) return hostIPs;
  return workerSaysTerminal && runtime.containers.length === 0 ? podIPs.map(({ ip }) => ip) : [];
}
