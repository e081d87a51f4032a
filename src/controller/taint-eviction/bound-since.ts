import { boundAtMs, type PodView } from '../../machinery/api/pod.ts';
import type { Change } from '../../machinery/informer/informer.ts';
import type { Now } from '../model/node-state.ts';
import { countFromStamp } from './count-from-stamp.ts';
import type { Meeting } from './taint-clock.ts';

/** Whether this change shows a pod that was not bound to this node before. */
export function isBinding(change: Exclude<Change<PodView>, { kind: 'deleted' }>): boolean {
  if (change.kind === 'added') return true;
  const { previous, object } = change;
  return previous.uid !== object.uid || previous.nodeName !== object.nodeName;
}

/**
 * When a pod was bound, on the monotonic clock. A binding that arrives by a watch event counts from then; otherwise the
 * times of the pod count, and without them the current time.
 */
export function boundSinceMs(pod: PodView, meeting: Meeting, now: Now): number {
  const stampMs = meeting === 'found' ? boundAtMs(pod) : undefined;
  return stampMs === undefined ? now.monotonicMs : countFromStamp(stampMs, now);
}
