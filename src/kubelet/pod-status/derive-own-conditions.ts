import { type Condition, findCondition, listConditions } from '../../api/conditions.ts';
import type { Container, ContainerStatus, Pod, PodPhase } from '../../api/pod.ts';
import { isSidecar, listInits, listRegular, needsSandbox } from '../runtime/decide-restart.ts';
import type { RuntimePodStatus } from '../runtime/pod-runtime.ts';
import { deriveObservedGeneration } from './derive-observed-generation.ts';

export interface ConditionSources {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  /** What was said of it last. */
  readonly previous: NonNullable<Pod['status']>;
  readonly phase: PodPhase;
  /** Of all its containers, init containers among them. */
  readonly statuses: readonly ContainerStatus[];
  /** Conditions of others: readiness gates are read from them. */
  readonly others: readonly Condition[];
}

type Finding = Pick<Condition, 'status' | 'reason' | 'message'>;

const isTrue: Finding = { status: 'True' };

/** The conditions that are the kubelet's to say, in the order in which it says them. Their times are not its business here. */
export function deriveOwnConditions(sources: ConditionSources): readonly Condition[] {
  const observed = deriveObservedGeneration(sources.pod);
  const say = (type: string, finding: Finding): Condition => ({ type, lastProbeTime: null, ...observed, ...finding });
  const containersReady = deriveContainersReady(sources);
  return [
    say('PodReadyToStartContainers', needsSandbox(sources.runtime) ? { status: 'False' } : isTrue),
    say('Initialized', deriveInitialized(sources)),
    say('Ready', deriveReady(sources, containersReady)),
    say('ContainersReady', containersReady),
    say('PodScheduled', isTrue),
  ];
}

/** True once all containers are ready (kubelet `GenerateContainersReadyCondition`). */
function deriveContainersReady({ pod, phase, statuses }: ConditionSources): Finding {
  const containers = [...listInits(pod).filter(isSidecar), ...listRegular(pod)];
  const { unknown, wanting } = sortOut(containers, statuses, (_, status) => status.ready);
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const message = describeUnready(unknown, 'unready', wanting);
  return message === '' ? isTrue : { status: 'False', reason: 'ContainersNotReady', message };
}

/** Its containers are, and so are the gates that others keep (kubelet `GeneratePodReadyCondition`). */
function deriveReady({ pod, others }: ConditionSources, containersReady: Finding): Finding {
  if (containersReady.status !== 'True') return containersReady;
  const closed = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = findCondition(others, conditionType);
    if (condition?.status === 'True') return [];
    const gate = `pod readiness gate ${JSON.stringify(conditionType)}`;
    return condition === undefined
      ? [`corresponding condition of ${gate} does not exist.`]
      : [`the status of ${gate} is not "True", but ${condition.status}`];
  });
  if (closed.length === 0) return isTrue;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: closed.join(', ') };
}

/** True once all init containers are through; what has been initialized stays so (kubelet `GeneratePodInitializedCondition`). */
function deriveInitialized(sources: ConditionSources): Finding {
  const { pod, phase, statuses, previous } = sources;
  const containers = listInits(pod);
  const { unknown, wanting } = sortOut(containers, statuses, (container, status) =>
    isSidecar(container) ? status.started === true : status.ready,
  );
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'True', reason: 'PodCompleted' };
  const message = describeUnready(unknown, 'incomplete', wanting);
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
  readonly wanting: readonly string[];
}

function sortOut(
  containers: readonly Container[],
  statuses: readonly ContainerStatus[],
  isDone: (container: Container, status: ContainerStatus) => boolean,
): Sorted {
  const unknown: string[] = [];
  const wanting: string[] = [];
  for (const container of containers) {
    const status = statuses.find(({ name }) => name === container.name);
    if (status === undefined) unknown.push(container.name);
    else if (!isDone(container, status)) wanting.push(container.name);
  }
  return { unknown, wanting };
}

/** Lists as Go prints them, as in `containers with unready status: [a b]`. */
function describeUnready(unknown: readonly string[], what: string, wanting: readonly string[]): string {
  const parts: string[] = [];
  if (unknown.length > 0) parts.push(`containers with unknown status: [${unknown.join(' ')}]`);
  if (wanting.length > 0) parts.push(`containers with ${what} status: [${wanting.join(' ')}]`);
  return parts.join(', ');
}
