/**
 * Purpose of a write. `recovery`: removes taints and conditions of a node that is healthy again; `detection`: the status
 * and NoSchedule taints of an unhealthy node, and the readiness of its pods; `tainting`: NoExecute taints, which the
 * eviction rate paces: behind other writes they would come closer together; `eviction`: the deletion of pods;
 * `housekeeping`: labels, taints of new nodes, pod garbage collection.
 */
export type WriteLane = 'recovery' | 'detection' | 'tainting' | 'eviction' | 'housekeeping';

/** Bounded concurrency per lane: a write never waits for a slot of another lane. */
export interface WriteLanes {
  /** Maximum number of writes of one lane in flight. */
  readonly concurrencyMax: number;
  run<T>(lane: WriteLane, write: () => Promise<T>): Promise<T>;
  /** Resolves when no write is queued or in flight. */
  drained(): Promise<void>;
}
