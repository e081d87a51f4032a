import type { Condition } from '../../api/conditions.ts';
import type { ContainerStatus, Pod, PodPhase } from '../../api/pod.ts';
import { formatTime } from '../../api/timestamps.ts';
import { isTerminal } from '../decide-pod-work.ts';
import type { ContainerRecord } from '../runtime/derive-container-record.ts';

export type PodStatus = NonNullable<Pod['status']>;

/** Conditions of a pod that belong to the kubelet, in the order in which it writes them (kubelet `PodConditionByKubelet`). */
export const ownConditionTypes = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
] as const;

export interface PodObservation {
  readonly pod: Pod;
  /** Undefined when the runtime was never asked to start it. */
  readonly containers: readonly ContainerRecord[] | undefined;
  /** Its end has come: nothing of it runs, and nothing will. */
  readonly finished: boolean;
  readonly hostIP: string;
  /** Undefined until its sandbox exists. */
  readonly podIP: string | undefined;
}

/** The status that follows from what the runtime shows. Transition times are the status manager's business. */
export function derivePodStatus(observation: PodObservation): PodStatus {
  const { pod, containers, hostIP, podIP } = observation;
  const phase = derivePodPhase(observation);
  const statuses = (pod.spec?.containers ?? [])
    .map(({ name, image }) => deriveContainerStatus(name, image ?? '', findRecord(containers, name)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    phase,
    ...keptReason(pod.status),
    conditions: deriveOwnConditions(phase, statuses, podIP !== undefined && !isTerminal(phase)),
    hostIP,
    ...(podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    containerStatuses: statuses,
  };
}

/**
 * A terminal phase is never left. While something waits to run for the first time the pod is Pending; once all has
 * stopped for good it has succeeded if every container exited with 0 (kubelet `getPhase`).
 */
export function derivePodPhase({ pod, containers, finished }: PodObservation): PodPhase {
  const before = pod.status?.phase;
  if (isTerminal(before)) return before;
  const records = containers ?? [];
  if (finished) return records.length > 0 && records.every(hasSucceeded) ? 'Succeeded' : 'Failed';
  if (records.length === 0 || records.some((record) => record.state === 'created')) return 'Pending';
  return 'Running';
}

/** Whoever ended a pod has said why, and that stays. Why a live one should be doing badly is not for others to say. */
function keptReason(told: PodStatus | undefined): Pick<PodStatus, 'reason'> {
  return isTerminal(told?.phase) && told?.reason !== undefined ? { reason: told.reason } : {};
}

function hasSucceeded(record: ContainerRecord): boolean {
  return record.state === 'exited' && record.exitCode === 0;
}

function findRecord(records: readonly ContainerRecord[] | undefined, name: string): ContainerRecord | undefined {
  return records?.find((record) => record.name === name);
}

/** `lastState` is on the wire of every container, empty or not: left out, it would look like a difference. */
type WireContainerStatus = ContainerStatus & { readonly lastState: Readonly<Record<string, never>> };

function deriveContainerStatus(name: string, image: string, record: ContainerRecord | undefined): WireContainerStatus {
  const running = record?.state === 'running';
  return {
    name,
    state: deriveContainerState(record),
    lastState: {},
    ready: running,
    restartCount: 0,
    image,
    imageID: record === undefined || record.state === 'created' ? '' : `hollow://${image}`,
    started: running,
  };
}

function deriveContainerState(record: ContainerRecord | undefined): NonNullable<ContainerStatus['state']> {
  if (record === undefined || record.state === 'created') return { waiting: { reason: 'ContainerCreating' } };
  if (record.state === 'running') return { running: { startedAt: formatTime(record.startedAtMs) } };
  return {
    terminated: {
      exitCode: record.exitCode,
      reason: record.exitCode === 0 ? 'Completed' : 'Error',
      startedAt: formatTime(record.startedAtMs ?? record.finishedAtMs),
      finishedAt: formatTime(record.finishedAtMs),
    },
  };
}

function deriveOwnConditions(
  phase: PodPhase,
  statuses: readonly ContainerStatus[],
  hasSandbox: boolean,
): readonly Condition[] {
  const ready = deriveReadiness(phase, statuses);
  return [
    { type: 'PodReadyToStartContainers', status: hasSandbox ? 'True' : 'False' },
    { type: 'Initialized', status: 'True', ...(phase === 'Succeeded' ? { reason: 'PodCompleted' } : {}) },
    { type: 'Ready', ...ready },
    { type: 'ContainersReady', ...ready },
    { type: 'PodScheduled', status: 'True' },
  ];
}

/** Ready as soon as every container runs: there are no probes here (kubelet `GenerateContainersReadyCondition`). */
function deriveReadiness(phase: PodPhase, statuses: readonly ContainerStatus[]): Omit<Condition, 'type'> {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const unready = statuses.filter((status) => !status.ready).map((status) => status.name);
  if (unready.length === 0) return { status: 'True' };
  const message = `containers with unready status: [${unready.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}
