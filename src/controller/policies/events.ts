import type { EventDraft } from '../../api/event.ts';
import { type NodeView, pauseAnnotation } from '../../api/node.ts';

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
