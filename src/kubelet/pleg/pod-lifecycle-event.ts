/** What a relist found to have happened to a container (kubelet `pleg.PodLifeCycleEventType`). */
export type PodLifecycleEventType = 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'PodSync';

export interface PodLifecycleEvent {
  /** Of the pod. */
  readonly uid: string;
  readonly type: PodLifecycleEventType;
  /** Absent for `PodSync`. */
  readonly containerId?: string;
}
