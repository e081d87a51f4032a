import type { EventDraft } from '../../machinery/api/event.ts';
import { type NodeView, pauseAnnotation } from '../../machinery/api/node.ts';
import {
  type BreakerClosing,
  type BreakerOpening,
  describeBreakerCount,
  describeBreakerOpening,
} from '../model/decisions.ts';
import { aboutNode, aboutNodeLeases, type NodeIdentity } from '../model/subjects.ts';

/** Once for each malformed value of the pause annotation. */
export function malformedPause(node: NodeIdentity & Pick<NodeView, 'pause'>): EventDraft {
  const message = `Annotation ${pauseAnnotation} must be "true", "false" or an RFC 3339 time (got ${JSON.stringify(node.pause ?? '')}); the node is paused until the annotation is corrected or removed`;
  return { about: aboutNode(node), type: 'Warning', reason: 'MalformedPauseAnnotation', message };
}

/** A breaker opened, or this leader found it open. */
export function breakerOpened(opening: BreakerOpening): EventDraft {
  const message = `Policy ${opening.policy}: ${describeBreakerOpening(opening)}; its nodes get no NoExecute taint and no pod is evicted for the health of its node`;
  return { about: aboutNodeLeases, type: 'Warning', reason: 'PolicyBreakerOpened', message };
}

/** A breaker closed. */
export function breakerClosed({ policy, openMs, count }: BreakerClosing): EventDraft {
  const numbers = count === null ? 'the policy has no limits any more' : describeBreakerCount(count);
  const message = `Policy ${policy}: NoExecute taints and evictions resumed after ${Math.round(openMs / 1_000)}s; ${numbers}`;
  return { about: aboutNodeLeases, type: 'Normal', reason: 'PolicyBreakerClosed', message };
}
