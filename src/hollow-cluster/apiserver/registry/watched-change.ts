/** What a watcher with a selector receives for a change. */
import type { StoreChange } from '../storage/store-change.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { Selection } from './selection.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * Entering a selection is ADDED, leaving it DELETED with the content it left with (upstream `convertToWatchEvent`).
 * Undefined if the selection is not affected.
 */
export function eventTypeOf(change: StoreChange, selection: Selection): EventType | undefined {
  const before = change.previous !== undefined && selection.matches(change.previous);
  const after = change.kind !== 'deleted' && selection.matches(change.object);
  if (before) return after ? 'MODIFIED' : 'DELETED';
  return after ? 'ADDED' : undefined;
}

/** An object that left a selection but still exists is sent in its previous state, with the version of the change. */
export function contentOf(change: StoreChange, type: EventType): StoredObject {
  if (type !== 'DELETED' || change.kind === 'deleted' || change.previous === undefined) return change.object;
  return change.previous.at(change.revision);
}
