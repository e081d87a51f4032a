/**
 * Purpose of a write. `recovery`: removes taints and conditions of a node that is healthy again; `detection`: the status
 * and NoSchedule taints of an unhealthy node, and the readiness of its pods; `tainting`: NoExecute taints, which the
 * eviction rate paces: behind other writes they would come closer together; `eviction`: the deletion of pods;
 * `housekeeping`: labels, taints of new nodes, pod garbage collection.
 */
export const writeLanes = ['recovery', 'detection', 'tainting', 'eviction', 'housekeeping'] as const;

export type WriteLane = (typeof writeLanes)[number];

/** Bounded concurrency per lane: a write never waits for a slot of another lane. */
export interface WriteLanes {
  /** Maximum number of writes of one lane in flight. */
  readonly concurrencyMax: number;
  /** Of the writes that wait in a lane the one with the greatest precedence is next, and of these the oldest. */
  run<T>(lane: WriteLane, write: () => Promise<T>, precedence?: number): Promise<T>;
  /** Resolves when no write is queued or in flight. */
  drained(): Promise<void>;
}
