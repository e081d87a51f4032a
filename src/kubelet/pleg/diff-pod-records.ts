import type { RuntimeContainer, RuntimePod, RuntimeState } from '../runtime/pod-runtime.ts';
import type { PodLifecycleEventType } from './pod-lifecycle-event.ts';

/** As PLEG sees a container: one that is created and has not run counts as one of which nothing is known. */
type SeenState = 'running' | 'exited' | 'unknown' | 'non-existent';

/** `ContainerChanged` is why a pod is inspected again, and is told to nobody. */
export type RecordEventType = PodLifecycleEventType | 'ContainerChanged';

export interface RecordEvent {
  readonly type: RecordEventType;
  readonly containerId: string;
}

/**
 * What happened to a pod's containers, its sandboxes among them, between two listings (kubelet `pleg.computeEvents`).
 * Undefined: the pod was not listed. What happened and was undone in between is not seen.
 */
export function diffPodRecords(old: RuntimePod | undefined, current: RuntimePod | undefined): readonly RecordEvent[] {
  const before = statesById(old);
  const after = statesById(current);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((containerId) =>
    diffStates(before.get(containerId) ?? 'non-existent', after.get(containerId) ?? 'non-existent').map((type) => ({
      type,
      containerId,
    })),
  );
}

/** The table itself: what a step from one state to another is called. */
export function diffStates(before: SeenState, after: SeenState): readonly RecordEventType[] {
  if (before === after) return [];
  if (after === 'running') return ['ContainerStarted'];
  if (after === 'exited') return ['ContainerDied'];
  if (after === 'unknown') return ['ContainerChanged'];
  return before === 'exited' ? ['ContainerRemoved'] : ['ContainerDied', 'ContainerRemoved'];
}

function statesById(pod: RuntimePod | undefined): ReadonlyMap<string, SeenState> {
  const containers = pod?.containers ?? [];
  // The real one looks at sandboxes last, and tells of them last.
  const ordered = [...containers.filter((each) => !isSandbox(each)), ...containers.filter(isSandbox)];
  return new Map(ordered.map(({ id, state }) => [id, deriveSeenState(state)]));
}

function isSandbox({ kind }: RuntimeContainer): boolean {
  return kind === 'sandbox';
}

function deriveSeenState(state: RuntimeState): SeenState {
  return state === 'created' ? 'unknown' : state;
}
