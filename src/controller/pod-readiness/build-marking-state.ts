// What the marking of pods asks of a node, from what is known of its heartbeats and its Ready condition.
import { findCondition, neverUpdated } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { NodeMarkingState } from './pod-marker.ts';

interface ReadyHistory {
  /** Status of its Ready condition. */
  readonly ready: string;
  /** When the status became that. */
  readonly readyChangedAtMs: number;
  /** How long it reports Ready=False when its pods are marked; Infinity: never. */
  readonly afterMs: number;
  /** On the clock of `readyChangedAtMs`. */
  readonly nowMs: number;
}

interface MarkingEvidence extends ReadyHistory {
  readonly hasRecentHeartbeat: boolean;
}

/** Whether the node reports Ready=False for as long as its policy waits until its pods are marked all the same. */
export function isNotReadyForLong({ ready, readyChangedAtMs, afterMs, nowMs }: ReadyHistory): boolean {
  return ready === 'False' && nowMs - readyChangedAtMs >= afterMs;
}

/** The state on which it depends whether the pods of this node are marked NotReady. */
export function buildMarkingState(node: Pick<NodeView, 'conditions'>, evidence: MarkingEvidence): NodeMarkingState {
  const { ready, hasRecentHeartbeat } = evidence;
  const condition = findCondition(node.conditions, 'Ready');
  return {
    ready,
    hasRecentHeartbeat,
    neverPosted: condition === undefined || condition.reason === neverUpdated.reason,
    isNotReadyForLong: isNotReadyForLong(evidence),
  };
}
