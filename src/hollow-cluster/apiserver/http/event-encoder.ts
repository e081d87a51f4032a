/** The encoding of watch events, which is shared by all watchers that request the same form. */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import { contentOf, type EventType } from '../registry/watched-change.ts';
import type { StoreChange } from '../storage/store-change.ts';
import type { Presenter } from './presenter.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { StoredObject } from '../storage/stored-object.ts';

export class EventEncoder {
  readonly #lines = new WeakMap<StoreChange, Map<string, Buffer>>();

  /** About as many bytes as the event will have. What is shared is encoded now. Throws an EncodeFailure. */
  sizeOf(change: StoreChange, type: EventType, presenter: Presenter): number {
    if (!presenter.usesJson) return this.encode(change, type, presenter, false).length;
    try {
      return change.object.tailLength;
    } catch (error) {
      throw new EncodeFailure(change.object, error);
    }
  }

  /** `first` is for tables: their first event carries the columns. Throws an EncodeFailure. */
  encode(change: StoreChange, type: EventType, presenter: Presenter, first: boolean): Buffer {
    try {
      return this.#encodeShared(change, type, presenter, first);
    } catch (error) {
      throw new EncodeFailure(change.object, error);
    }
  }

  #encodeShared(change: StoreChange, type: EventType, presenter: Presenter, first: boolean): Buffer {
    const { eventKey } = presenter;
    if (eventKey === undefined) return presenter.event(type, contentOf(change, type), first);
    const lines = getOrInsert(this.#lines, change, () => new Map<string, Buffer>());
    return getOrInsert(lines, `${type}/${eventKey}`, () => presenter.event(type, contentOf(change, type), first));
  }
}

/** An object that cannot be encoded: it ends the watches that would send it. */
export class EncodeFailure extends Error {
  readonly object: StoredObject;

  constructor(object: StoredObject, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.object = object;
  }
}

/** Logs an object that cannot be encoded once in each version. */
export class EncodeFailureLog {
  readonly #logger: Logger;
  readonly #logged = new WeakSet<StoredObject>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** A client opens its watch again, and other watches end by the same object: neither is logged. */
  add(resource: string, { object, message }: EncodeFailure): void {
    if (this.#logged.has(object)) return;
    this.#logged.add(object);
    const { namespace, name } = object;
    this.#logger.warn({ resource, namespace, name, reason: message }, 'watch ended: object cannot be encoded');
  }
}
