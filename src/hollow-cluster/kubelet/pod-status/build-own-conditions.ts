import { type Condition, findCondition, listConditions } from '../../../machinery/api/conditions.ts';
import type { Container, ContainerStatus, Pod, PodPhase } from '../../../machinery/api/pod.ts';
import { describeSandboxProblem, isSidecar, listInits, listRegular } from '../runtime/decide-restart.ts';
import type { RuntimePodStatus } from '../runtime/pod-runtime.ts';

interface ConditionSources {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  /** The last status. */
  readonly previous: NonNullable<Pod['status']>;
  readonly phase: PodPhase;
  readonly isWorkerTerminal: boolean;
  /** Statuses of all its containers, including init containers. */
  readonly statuses: readonly ContainerStatus[];
  /** Conditions of other clients: readiness gates refer to them. */
  readonly others: readonly Condition[];
}

/**
 * Conditions of a pod that the kubelet owns, in the order in which it writes them (kubelet `PodConditionByKubelet`).
 */
export const ownConditionTypes: readonly string[] = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
];

type Finding = Pick<Condition, 'status' | 'reason' | 'message'>;

const isTrue: Finding = { status: 'True' };

/** The conditions that the kubelet owns, in the order in which it reports them, without transition times. */
export function buildOwnConditions(sources: ConditionSources): readonly Condition[] {
  const observed = selectObservedGeneration(sources.pod);
  const build = (type: string, finding: Finding): Condition => ({ type, lastProbeTime: null, ...observed, ...finding });
  const containersReady = buildContainersReady(sources);
  return [
    build('PodReadyToStartContainers', buildReadyToStart(sources)),
    build('Initialized', buildInitialized(sources)),
    build('Ready', buildReady(sources, containersReady)),
    build('ContainersReady', containersReady),
    build('PodScheduled', isTrue),
  ];
}

/** True when the pod has a sandbox with its network (kubelet `GeneratePodReadyToStartContainersCondition`). */
function buildReadyToStart({ runtime, previous, isWorkerTerminal }: ConditionSources): Finding {
  // A kubelet keeps the sandbox of a stopped pod until garbage collection; a hollow node keeps what was reported of it.
  const known = findCondition(listConditions(previous.conditions), 'PodReadyToStartContainers');
  const isRemoved = isWorkerTerminal && runtime.containers.length === 0;
  if (isRemoved && known?.status === 'False') return selectFinding(known);
  const message = describeSandboxProblem(runtime);
  return message === undefined ? isTrue : { status: 'False', reason: 'PodSandboxNotReady', message };
}

function selectFinding({ status, reason = '', message = '' }: Condition): Finding {
  return { status, ...(reason === '' ? {} : { reason }), ...(message === '' ? {} : { message }) };
}

/** True when all containers are ready (kubelet `GenerateContainersReadyCondition`). */
function buildContainersReady({ pod, phase, statuses }: ConditionSources): Finding {
  const containers = [...listInits(pod).filter(isSidecar), ...listRegular(pod)];
  const { unknown, unready } = partition(containers, statuses, (_, status) => status.ready);
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const message = describeUnready(unknown, 'unready', unready);
  return message === '' ? isTrue : { status: 'False', reason: 'ContainersNotReady', message };
}

/** True when the containers and the readiness gates are ready (kubelet `GeneratePodReadyCondition`). */
function buildReady({ pod, others }: ConditionSources, containersReady: Finding): Finding {
  if (containersReady.status !== 'True') return containersReady;
  const message = describeClosedGates(pod, others);
  return message === '' ? isTrue : { status: 'False', reason: 'ReadinessGatesNotReady', message };
}

/** The readiness gates of a pod whose conditions are not True; empty if there are none. */
function describeClosedGates({ spec }: Pod, conditions: readonly Condition[]): string {
  const closed = (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = findCondition(conditions, conditionType);
    if (condition?.status === 'True') return [];
    const gate = `pod readiness gate ${JSON.stringify(conditionType)}`;
    return condition === undefined
      ? [`corresponding condition of ${gate} does not exist.`]
      : [`the status of ${gate} is not "True", but ${condition.status}`];
  });
  return closed.join(', ');
}

/**
 * True if the Ready condition of a pod does not match its current readiness gates (kubelet
 * `NeedToReconcilePodReadiness`).
 */
export function hasReadinessGap(pod: Pod): boolean {
  const conditions = listConditions(pod.status?.conditions);
  const ready = findCondition(conditions, 'Ready');
  if ((pod.spec?.readinessGates ?? []).length === 0 || ready === undefined) return false;
  // While the containers are not ready, the gates do not count.
  if (findCondition(conditions, 'ContainersReady')?.status !== 'True') return ready.status === 'True';
  const closed = describeClosedGates(pod, conditions);
  return (ready.status === 'True') !== (closed === '') || (ready.message ?? '') !== closed;
}

/** True when all init containers have completed; stays true after that (kubelet `GeneratePodInitializedCondition`). */
function buildInitialized(sources: ConditionSources): Finding {
  const { pod, phase, statuses, previous } = sources;
  const containers = listInits(pod);
  const { unknown, unready } = partition(containers, statuses, (container, status) =>
    isSidecar(container) ? status.started === true : status.ready,
  );
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'True', reason: 'PodCompleted' };
  const message = describeUnready(unknown, 'incomplete', unready);
  if (message === '' || hasRegularStarted(sources) || isInitialized(previous)) return isTrue;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

function isInitialized({ conditions }: ConditionSources['previous']): boolean {
  return findCondition(listConditions(conditions), 'Initialized')?.status === 'True';
}

function hasRegularStarted({ pod, statuses }: ConditionSources): boolean {
  const names = new Set(listRegular(pod).map(({ name }) => name));
  return statuses.some(({ name, state }) => {
    const started = state?.running !== undefined || state?.terminated !== undefined;
    return started && names.has(name);
  });
}

interface Sorted {
  readonly unknown: readonly string[];
  readonly unready: readonly string[];
}

function partition(
  containers: readonly Container[],
  statuses: readonly ContainerStatus[],
  isDone: (container: Container, status: ContainerStatus) => boolean,
): Sorted {
  const unknown: string[] = [];
  const unready: string[] = [];
  for (const container of containers) {
    const status = statuses.find(({ name }) => name === container.name);
    if (status === undefined) unknown.push(container.name);
    else if (!isDone(container, status)) unready.push(container.name);
  }
  return { unknown, unready };
}

/** Lists in Go's format, such as `containers with unready status: [a b]`. */
function describeUnready(unknown: readonly string[], what: string, unready: readonly string[]): string {
  const parts: string[] = [];
  if (unknown.length > 0) parts.push(`containers with unknown status: [${unknown.join(' ')}]`);
  if (unready.length > 0) parts.push(`containers with ${what} status: [${unready.join(' ')}]`);
  return parts.join(', ');
}

/** The generation of the spec that a status refers to; absent for a static pod, which has no generation. */
export function selectObservedGeneration({ metadata }: Pod): { readonly observedGeneration?: number } {
  const { generation = 0 } = metadata;
  return generation === 0 ? {} : { observedGeneration: generation };
}
