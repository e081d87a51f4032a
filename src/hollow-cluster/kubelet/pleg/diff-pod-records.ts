import type { RuntimeContainer, RuntimePod, RuntimeState } from '../runtime/pod-runtime.ts';

/** Events of a relist (kubelet `pleg.PodLifeCycleEventType`). */
type PodLifecycleEventType = 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'PodSync';

export interface PodLifecycleEvent {
  /** Uid of the pod. */
  readonly uid: string;
  readonly type: PodLifecycleEventType;
  /** Absent for `PodSync`. */
  readonly containerId?: string;
}

/** A container's state as PLEG sees it: a created container that has not run counts as `unknown`. */
type SeenState = 'running' | 'exited' | 'unknown' | 'non-existent';

/** `ContainerChanged` causes a new inspection of the pod, and is not sent as an event. */
type RecordEventType = PodLifecycleEventType | 'ContainerChanged';

export interface RecordEvent {
  readonly type: RecordEventType;
  readonly containerId: string;
}

/**
 * The changes of a pod's containers and sandboxes between two relists (kubelet `pleg.computeEvents`). Undefined: the
 * pod was not listed. A change that was undone between the relists is not detected.
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

/** The events of a transition between two states. */
export function diffStates(before: SeenState, after: SeenState): readonly RecordEventType[] {
  if (before === after) return [];
  if (after === 'running') return ['ContainerStarted'];
  if (after === 'exited') return ['ContainerDied'];
  if (after === 'unknown') return ['ContainerChanged'];
  return before === 'exited' ? ['ContainerRemoved'] : ['ContainerDied', 'ContainerRemoved'];
}

function statesById(pod: RuntimePod | undefined): ReadonlyMap<string, SeenState> {
  const containers = pod?.containers ?? [];
  // The kubelet handles sandboxes last, and sends their events last.
  const ordered = [...containers.filter((each) => !isSandbox(each)), ...containers.filter(isSandbox)];
  return new Map(ordered.map(({ id, state }) => [id, seenStateOf(state)]));
}

function isSandbox({ kind }: RuntimeContainer): boolean {
  return kind === 'sandbox';
}

function seenStateOf(state: RuntimeState): SeenState {
  return state === 'created' ? 'unknown' : state;
}
