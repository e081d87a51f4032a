/**
 * What a watcher with a selector sees of a change, and the bytes of it - made once for all watchers that want the same
 * form, however many there are.
 */
import type { Selection } from '../registry/selection.ts';
import type { StoreChange } from '../storage/store-change.ts';
import { decodeDraft, encodeTail, type StoredObject } from '../storage/stored-object.ts';
import type { EventType, Presenter } from './presenter.ts';

/**
 * Entering a selection is ADDED, leaving it DELETED with the content it left with (upstream `convertToWatchEvent`).
 * Undefined where the watcher sees nothing of it.
 */
export function eventTypeOf(change: StoreChange, selection: Selection): EventType | undefined {
  const before = change.previous !== undefined && selection.matches(change.previous);
  const after = change.kind !== 'deleted' && selection.matches(change.object);
  if (before) return after ? 'MODIFIED' : 'DELETED';
  return after ? 'ADDED' : undefined;
}

export class EventEncoder {
  readonly #lines = new WeakMap<StoreChange, Map<string, Buffer>>();

  /** `first` is for tables: their first event carries the columns. */
  encode(change: StoreChange, type: EventType, presenter: Presenter, first: boolean): Buffer {
    const { eventKey } = presenter;
    if (eventKey === undefined) return presenter.event(type, contentOf(change, type), first);
    const lines = this.#lines.get(change) ?? new Map<string, Buffer>();
    this.#lines.set(change, lines);
    const key = `${type}/${eventKey}`;
    const known = lines.get(key);
    if (known !== undefined) return known;
    const line = presenter.event(type, contentOf(change, type), first);
    lines.set(key, line);
    return line;
  }
}

/** What left a selection but still exists is shown as it was, under the version of the change. */
function contentOf(change: StoreChange, type: EventType): StoredObject {
  if (type !== 'DELETED' || change.kind === 'deleted' || change.previous === undefined) return change.object;
  const draft = decodeDraft(change.previous);
  draft.metadata.resourceVersion = String(change.revision);
  return { ...change.previous, revision: change.revision, tail: encodeTail(draft) };
}
