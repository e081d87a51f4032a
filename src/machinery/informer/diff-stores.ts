import { type ObjectKey, objectKey } from '../api/object-key.ts';
import { isOlder } from '../api/resource-version.ts';
import type { Change } from './informer.ts';
import type { ObjectMap } from './object-map.ts';

/** Returns the uid and resourceVersion of one state of an object. */
export type Identify<T> = (object: T) => ObjectVersion;

/**
 * The changes that one new state of a key means to a listener. None if the state is already stored; two if another object
 * now has the name, because listeners must receive the deletion of the first one.
 */
export function diffObject<T>(
  key: ObjectKey,
  object: T,
  previous: T | undefined,
  identify: Identify<T>,
): readonly Change<T>[] {
  if (previous === undefined) return [{ kind: 'added', key, object }];
  const now = identify(object);
  const before = identify(previous);
  if (now.uid !== before.uid) {
    return [
      { kind: 'deleted', key, object: previous },
      { kind: 'added', key, object },
    ];
  }
  const unchanged = now.resourceVersion === before.resourceVersion && now.resourceVersion !== '';
  return unchanged ? [] : [{ kind: 'modified', key, object, previous }];
}

/**
 * The changes of a relist: first the objects that are gone, in their last known state, then the objects of the list in
 * its order, namespace by namespace (client-go `RealFIFO.Replace`). Lazy: there may be a million. `isSameHistory`: false where the
 * storage may have been restored in between. Then equal versions may be of different states.
 */
export function* diffStores<T>(
  before: ObjectMap<T>,
  after: ObjectMap<T>,
  identify: Identify<T>,
  isSameHistory = true,
): Generator<Change<T>> {
  const identity: Identify<T> = isSameHistory
    ? identify
    : (object) => ({ uid: identify(object).uid, resourceVersion: '' });
  for (const [namespace, objects] of before.byNamespace) {
    const left = after.byNamespace.get(namespace);
    for (const [name, object] of objects) {
      if (left?.has(name) !== true) yield { kind: 'deleted', key: objectKey(namespace, name), object };
    }
  }
  for (const [namespace, objects] of after.byNamespace) {
    const known = before.byNamespace.get(namespace);
    for (const [name, object] of objects) {
      yield* diffObject(objectKey(namespace, name), object, known?.get(name), identity);
    }
  }
}

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
 * the stream before this event. `isSelective`: the stream has a selector, by which an object leaves it and comes back.
 */
export function isStale(
  received: EventVersion,
  stored: ObjectVersion | undefined,
  reached: string,
  isSelective = false,
): boolean {
  if (stored === undefined) return isOlder(received.resourceVersion, reached);
  // A uid is never reused: its deletion is final, whatever version the event carries.
  if (received.type === 'DELETED' && received.uid === stored.uid && !isSelective) return false;
  if (received.uid === stored.uid && received.resourceVersion === stored.resourceVersion) return true;
  return isOlder(received.resourceVersion, stored.resourceVersion);
}
