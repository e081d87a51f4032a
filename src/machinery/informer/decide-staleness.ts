import { isOlder } from '../api/resource-version.ts';

export interface ObjectVersion {
  readonly uid: string;
  readonly resourceVersion: string;
}

interface EventVersion extends ObjectVersion {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
}

/**
 * Whether a newer state than this event is already known. A server that repeats events after a reconnect must neither
 * roll an object back nor restore a deleted one. `stored` is the stored state of the same key, `reached` the version of
 * the stream before this event.
 */
export function isStale(received: EventVersion, stored: ObjectVersion | undefined, reached: string): boolean {
  if (stored === undefined) return isOlder(received.resourceVersion, reached);
  // A uid is never reused: its deletion is final, whatever version the event carries.
  if (received.type === 'DELETED' && received.uid === stored.uid) return false;
  if (received.uid === stored.uid && received.resourceVersion === stored.resourceVersion) return true;
  return isOlder(received.resourceVersion, stored.resourceVersion);
}
