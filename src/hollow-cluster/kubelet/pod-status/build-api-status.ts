import { type Condition, findCondition, listConditions } from '../../../machinery/api/conditions.ts';
import type { ContainerStatus, Pod, PodPhase } from '../../../machinery/api/pod.ts';
import { parseTimestamp } from '../../../machinery/api/timestamps.ts';
import { isEndPhase } from '../pod-config/classify-pod.ts';
import { hasActiveRegular } from '../runtime/decide-restart.ts';
import type { ProbeResults, RuntimePodStatus, Waiting } from '../runtime/pod-runtime.ts';
import { buildContainerStatuses, buildInitStatuses } from './build-container-statuses.ts';
import { buildOwnConditions, ownConditionTypes, selectObservedGeneration } from './build-own-conditions.ts';
import { buildPodResources } from './build-pod-resources.ts';
import { classifyPodPhase } from './classify-pod-phase.ts';
import { classifyQosClass } from './classify-qos-class.ts';

export type PodStatus = NonNullable<Pod['status']>;

/** The inputs of a pod's status. */
export interface StatusSources {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  /** The last status of this kubelet run; undefined: none yet, then the API server's status is used. */
  readonly previous: PodStatus | undefined;
  /** The pod worker has marked the pod terminal: none of its containers is started again. */
  readonly isWorkerTerminal: boolean;
  /** Why containers wait, as of the last sync. */
  readonly waiting: readonly Waiting[];
  /** The node's addresses, primary first. */
  readonly hostIPs: readonly string[];
  /** Wall time, to check the pod's active deadline; the deadline is ignored when absent. */
  readonly nowMs?: number;
  readonly probes: Pick<ProbeResults, 'unstarted' | 'unready'>;
}

/**
 * The status for the API server (kubelet `generateAPIPodStatus`). The status manager adds the transition times of
 * conditions and the start time.
 */
export function buildApiStatus(sources: StatusSources): PodStatus {
  const { pod, runtime, isWorkerTerminal } = sources;
  const previous = sources.previous ?? pod.status ?? {};
  const containerStatuses = buildContainerStatuses({ ...sources, previous: previous.containerStatuses });
  const initStatuses = buildInitStatuses({ ...sources, previous: previous.initContainerStatuses });
  const statuses = [...(initStatuses ?? []), ...containerStatuses];
  const end = classifyPhase(sources, previous, statuses);
  const others = selectOthers(pod, previous);
  const { phase } = end;
  const own = buildOwnConditions({ pod, runtime, previous, phase, isWorkerTerminal, statuses, others });
  const resources = buildPodResources(pod);
  return {
    ...end,
    ...selectObservedGeneration(pod),
    conditions: [...others, ...own],
    ...buildAddresses(sources, previous),
    qosClass: classifyQosClass(pod),
    resources,
    ...(resources.requests === undefined ? {} : { allocatedResources: resources.requests }),
    ...(initStatuses === undefined ? {} : { initContainerStatuses: initStatuses }),
    containerStatuses,
  };
}

type End = Pick<PodStatus, 'reason' | 'message'> & { readonly phase: PodPhase };

/**
 * A terminal phase, in this kubelet or on the API server, is never left; reason and message stay for as long as their
 * phase; a pod past its active deadline has failed.
 */
function classifyPhase(sources: StatusSources, previous: PodStatus, statuses: readonly ContainerStatus[]): End {
  const { pod, isWorkerTerminal } = sources;
  const stored = pod.status ?? {};
  const storedEnd = isEndPhase(stored.phase) ? stored.phase : undefined;
  if (isOverdue(sources, previous)) return { phase: storedEnd ?? 'Failed', ...deadlineExceeded };
  const hasInitialized = hasActiveRegular(pod, sources.runtime);
  const seen = classifyPodPhase({ pod, statuses, isWorkerTerminal, hasInitialized });
  const phase = isEndPhase(previous.phase) ? previous.phase : (storedEnd ?? seen);
  return { phase: storedEnd ?? phase, ...(phase === previous.phase ? keptReason(previous, stored) : {}) };
}

function isOverdue({ pod, nowMs }: StatusSources, previous: PodStatus): boolean {
  return nowMs !== undefined && isPastDeadline(pod, previous.startTime ?? pod.status?.startTime, nowMs);
}

function keptReason(previous: PodStatus, stored: PodStatus): Pick<PodStatus, 'reason' | 'message'> {
  const reason = previous.reason ?? stored.reason;
  const message = previous.message ?? stored.message;
  return { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) };
}

/** Conditions of other clients as on the API server, and the last DisruptionTarget of this kubelet. */
function selectOthers(pod: Pod, previous: PodStatus): readonly Condition[] {
  const others = listConditions(pod.status?.conditions).filter(({ type }) => !ownConditionTypes.includes(type));
  const disruption = findCondition(listConditions(previous.conditions), 'DisruptionTarget');
  if (disruption === undefined) return others;
  return [...others.filter(({ type }) => type !== disruption.type), disruption];
}

type Addresses = Pick<PodStatus, 'hostIP' | 'hostIPs' | 'podIP' | 'podIPs'>;

/**
 * A pod on the host network has the host's addresses; a terminated pod without containers keeps its last addresses.
 */
function buildAddresses(sources: StatusSources, previous: PodStatus): Addresses {
  const { hostIPs } = sources;
  const own = selectPodIPs(sources, previous);
  const [hostIP] = hostIPs;
  const [podIP] = own;
  return {
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: hostIPs.map((ip) => ({ ip })) }),
    ...(podIP === undefined ? {} : { podIP, podIPs: own.map((ip) => ({ ip })) }),
  };
}

function selectPodIPs(sources: StatusSources, { podIPs = [] }: PodStatus): readonly string[] {
  const { pod, runtime, hostIPs, isWorkerTerminal } = sources;
  if (runtime.ips.length > 0) return runtime.ips;
  if (pod.spec?.hostNetwork === true) return hostIPs;
  return isWorkerTerminal && runtime.containers.length === 0 ? podIPs.map(({ ip }) => ip) : [];
}

/** Status of a pod that was active for too long. */
const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/** Wall time of a pod's active deadline; undefined if it has none or has not started. */
export function deadlineMsOf(pod: Pod, startTime: string | undefined): number | undefined {
  const seconds = pod.spec?.activeDeadlineSeconds;
  const startedAtMs = parseTimestamp(startTime);
  return seconds === undefined || startedAtMs === undefined ? undefined : startedAtMs + seconds * 1_000;
}

/** True if the active deadline has passed (kubelet `activeDeadlineHandler`). `nowMs` is wall time. */
export function isPastDeadline(pod: Pod, startTime: string | undefined, nowMs: number): boolean {
  const deadlineMs = deadlineMsOf(pod, startTime);
  return deadlineMs !== undefined && nowMs >= deadlineMs;
}
