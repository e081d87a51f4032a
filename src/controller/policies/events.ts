import type { EventDraft } from '../../machinery/api/event.ts';
import { type NodeView, pauseAnnotation } from '../../machinery/api/node.ts';
import { nodeLeaseNamespace } from '../../machinery/api/resources.ts';
import {
  type BreakerClosing,
  type BreakerOpening,
  describeBreakerCount,
  describeBreakerOpening,
} from '../model/decisions.ts';

// About the namespace of the node leases: a breaker affects many nodes, so no single Node is the regarding object.
const nodeLeases: EventDraft['about'] = { apiVersion: 'v1', kind: 'Namespace', name: nodeLeaseNamespace };

/** Once for each malformed value of the pause annotation. */
export function malformedPause({ name, uid, pause }: Pick<NodeView, 'name' | 'uid' | 'pause'>): EventDraft {
  const message = `Annotation ${pauseAnnotation} must be "true", "false" or an RFC 3339 time (got ${JSON.stringify(pause ?? '')}); the node is paused until the annotation is corrected or removed`;
  return {
    about: { apiVersion: 'v1', kind: 'Node', name, uid },
    type: 'Warning',
    reason: 'MalformedPauseAnnotation',
    message,
  };
}

/** A breaker opened, or this leader found it open. */
export function breakerOpened(opening: BreakerOpening): EventDraft {
  const message = `Policy ${opening.policy}: ${describeBreakerOpening(opening)}; its nodes get no NoExecute taint and no pod is evicted for the health of its node`;
  return { about: nodeLeases, type: 'Warning', reason: 'PolicyBreakerOpened', message };
}

/** A breaker closed. */
export function breakerClosed({ policy, openMs, count }: BreakerClosing): EventDraft {
  const numbers = count === null ? 'the policy has no limits any more' : describeBreakerCount(count);
  const message = `Policy ${policy}: NoExecute taints and evictions resumed after ${Math.round(openMs / 1_000)}s; ${numbers}`;
  return { about: nodeLeases, type: 'Normal', reason: 'PolicyBreakerClosed', message };
}
