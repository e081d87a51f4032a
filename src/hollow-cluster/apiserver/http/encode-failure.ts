/** An object that cannot be encoded: it ends the watches that would send it, and is logged once in each version. */
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { StoredObject } from '../storage/stored-object.ts';

export class EncodeFailure extends Error {
  readonly object: StoredObject;

  constructor(object: StoredObject, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.object = object;
  }
}

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
