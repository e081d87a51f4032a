import type { Clock } from '../../machinery/ports/clock.ts';
import { callWithin } from '../../machinery/supervision/call-within.ts';

/** A write that hangs does not hold up the others of its object for longer. */
const turnMsMax = 5_000;

interface WriteTurnsOptions {
  readonly clock: Clock;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
}

/**
 * One write of an object in flight at a time. Most have its resourceVersion as a precondition, so of two at once the API server
 * refuses one; and the answer to the first shows whether the second is still needed.
 */
export class WriteTurns {
  readonly #options: WriteTurnsOptions;
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(options: WriteTurnsOptions) {
    this.#options = options;
  }

  /** Settles as the write does. It begins when the earlier ones of this object have ended, at the latest after 5 s. */
  async run<T>(object: string, write: () => Promise<T>): Promise<T> {
    const before = this.#last.get(object);
    const own = before === undefined ? write() : this.#after(before).then(write);
    this.#last.set(object, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(object) === own) this.#last.delete(object);
    }
  }

  /** Resolves when no write waits for its turn or is in flight. */
  async drained(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }

  async #after(before: Promise<unknown>): Promise<void> {
    await callWithin({ ...this.#options, ms: turnMsMax }, () => before).catch(() => undefined);
  }
}
