import { type ObjectKey, objectKey } from '../api/object-key.ts';
import type { Incarnation } from './decide-staleness.ts';
import type { Change } from './informer.ts';
import type { ObjectMap } from './object-map.ts';

/** What names one state of one object. */
export type Identify<T> = (object: T) => Incarnation;

/**
 * What one new state of one key means to a listener. Nothing where it is the state we have; two changes where another
 * object now bears the name, because whoever counted on the first one has to hear that it is gone.
 */
export function describeArrival<T>(
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
 * What a relist changed: first everything that vanished, in its last known state, then arrivals in the order of the
 * list, namespace by namespace (client-go `RealFIFO.Replace`). One by one as they are asked for: there may be a million.
 */
export function* diffStores<T>(before: ObjectMap<T>, after: ObjectMap<T>, identify: Identify<T>): Generator<Change<T>> {
  for (const [namespace, objects] of before.byNamespace) {
    const left = after.byNamespace.get(namespace);
    for (const [name, object] of objects) {
      if (left?.has(name) !== true) yield { kind: 'deleted', key: objectKey(namespace, name), object };
    }
  }
  for (const [namespace, objects] of after.byNamespace) {
    const known = before.byNamespace.get(namespace);
    for (const [name, object] of objects) {
      yield* describeArrival(objectKey(namespace, name), object, known?.get(name), identify);
    }
  }
}
