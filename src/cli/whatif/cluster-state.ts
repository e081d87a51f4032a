import type { LeaseView } from '../../machinery/api/lease.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';

/** What was read from a cluster at one time. */
export interface ClusterState {
  /** Wall time at which it was read. */
  readonly atMs: number;
  readonly nodes: readonly NodeView[];
  /** By the name of the node. */
  readonly leases: ReadonlyMap<string, LeaseView>;
  /** Bound pods, by the name of the node. */
  readonly pods: ReadonlyMap<string, readonly PodView[]>;
}
