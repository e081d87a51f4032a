import type { Pod } from '../../api/pod.ts';

/** Where pods come from. */
export type PodSourceName = 'file' | 'http' | 'api';

/**
 * What happened to pods (kubelet `types.PodOperation`). A source sends `SET`, all it has; the sync loop receives the
 * others. `DELETE`: its graceful deletion began, or changed. `REMOVE`: it is gone from its source. `RECONCILE`: only its
 * status differs from what was last seen.
 */
export type PodOperation = 'SET' | 'ADD' | 'DELETE' | 'REMOVE' | 'UPDATE' | 'RECONCILE';

export interface PodUpdate {
  readonly op: PodOperation;
  /** `*`: all of them, as in a snapshot of the whole mux. */
  readonly source: PodSourceName | '*';
  readonly pods: readonly Pod[];
}
