import type { Pod } from '../../../machinery/api/pod.ts';

/** Sources of pods. */
export type PodSourceName = 'file' | 'http' | 'api';

/**
 * An operation on pods (kubelet `types.PodOperation`). A source sends `SET`, its complete list; the sync loop receives
 * the others. `DELETE`: graceful deletion began, or changed. `REMOVE`: removed from its source. `RECONCILE`: only the
 * status differs from what was last received.
 */
export type PodOperation = 'SET' | 'ADD' | 'DELETE' | 'REMOVE' | 'UPDATE' | 'RECONCILE';

export interface PodUpdate {
  readonly op: PodOperation;
  /** `*`: all sources, as in a snapshot of the whole mux. */
  readonly source: PodSourceName | '*';
  readonly pods: readonly Pod[];
}
