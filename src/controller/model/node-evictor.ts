import type { NodeView } from '../../machinery/api/node.ts';
import type { WorkOutcome } from '../../machinery/queueing/work-queue.ts';

/** Evicts the pods of unhealthy nodes, at the rates of their zones: by NoExecute taints, or in eviction mode by deleting them. */
export interface NodeEvictor {
  /** Queues, changes or ends the eviction of a node. The outcome says whether a write has to be retried. */
  reconcile(node: NodeView, zone: string): Promise<WorkOutcome>;
  /** Ends the eviction of a node in a full disruption. The outcome says whether a write has to be retried. */
  revokeNoExecute(node: NodeView): Promise<WorkOutcome>;
  /** Writes the NoExecute taint if the node needs it and a token is at hand; undefined if no write has begun. */
  start(node: NodeView, zone: string): Promise<void> | undefined;
  /** Nodes to which a NoExecute taint is being added, or may have been. */
  beingTainted(): ReadonlyMap<string, unknown>;
  /** Serves the queues. Returns the milliseconds until the next useful call, Infinity where no node waits. */
  serve(): number;
  /** Serves the queues once, and waits for the responses. */
  pass(): Promise<void>;
  /** Resolves when no write is in flight. */
  settled(): Promise<void>;
  /** Nodes with remembered state. Each is to be checked periodically: see {@link check}. */
  queuedNodes(): Iterable<string>;
  /** Drops the state of a node that no longer exists or is no longer to be evicted, whatever events were missed. */
  check(name: string): void;
  forget(name: string): void;
}
