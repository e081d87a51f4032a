import type { ReadFailure } from '../../machinery/api/api-error.ts';
import type { NodeView } from '../../machinery/api/node.ts';

/**
 * Result of a live read of a node. `gone`: a Status of the API server names this node as not found. `unreadable`: no
 * response in time, or none from the API server about this node. `not-permitted`: this process may not get nodes.
 */
export type LiveNode = NodeView | ReadFailure;

/**
 * The watch of nodes has delivered what had happened before a binding after this time, by a change or a bookmark (one a
 * minute); a watch that has not is stale.
 */
export const nodeWatchDelayMsMax = 90_000;

/** Maximum age of a live read as evidence; a node is not read more often. */
export const evidenceMs = 10_000;
