import type { Pod } from '../../../machinery/api/pod.ts';
import type { GroupLoop } from '../loops/loop-group.ts';

/** Sources of pods. */
export type PodSourceName = 'file' | 'http' | 'api';

/**
 * An operation on pods (kubelet `types.PodOperation`). `DELETE`: graceful deletion began, or changed. `REMOVE`: removed
 * from its source. `RECONCILE`: only the status differs from what was last received.
 */
export type PodOperation = 'ADD' | 'DELETE' | 'REMOVE' | 'UPDATE' | 'RECONCILE';

export interface PodUpdate {
  readonly op: PodOperation;
  readonly source: PodSourceName;
  readonly pods: readonly Pod[];
}

/** Sends all pods that a source has now. Resolves when they are merged and delivered; the source waits until then. */
export type SendPods = (pods: readonly Pod[], signal: AbortSignal) => Promise<void>;

/** A source of pods, which sends its complete list after each change. */
export interface PodSource {
  readonly name: PodSourceName;
  /** Sends until the signal aborts; errors of the source do not end it. */
  run(send: SendPods, signal: AbortSignal): Promise<void>;
  /** Source as a group loop, which needs almost no memory while idle, for sources that support it. */
  resting?(send: SendPods): GroupLoop;
}
