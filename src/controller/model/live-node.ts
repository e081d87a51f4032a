import type { ReadFailure } from '../../machinery/api/api-error.ts';
import type { NodeView } from '../../machinery/api/node.ts';

/**
 * Result of a live read of a node. `gone`: a Status of the API server names this node as not found. `unreadable`: no
 * response in time, or none from the API server about this node. `not-permitted`: this process may not get nodes.
 */
export type LiveNode = NodeView | ReadFailure;

/**
 * What a live read says about the node that is known. If another node has its name, that one is gone: what is known of it, such
 * as a taint or a pause, says nothing about the other.
 */
export function evidenceAbout(known: Pick<NodeView, 'uid'> | undefined, live: LiveNode): LiveNode {
  return typeof live === 'object' && known !== undefined && known.uid !== live.uid ? 'gone' : live;
}

/**
 * The watch of nodes has delivered what had happened before a binding after this time, by a change or a bookmark (one a
 * minute); a watch that has not is stale.
 */
export const nodeWatchDelayMsMax = 90_000;

/** Maximum age of a live read as evidence; a node is not read more often. */
export const evidenceMs = 10_000;
