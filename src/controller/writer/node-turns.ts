import type { Clock } from '../../ports/clock.ts';
import { callWithin } from '../../supervision/call-within.ts';

/** A write that hangs does not hold up the others of its node for longer. */
const turnMsMax = 5_000;

interface NodeTurnsOptions {
  readonly clock: Clock;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
}

/**
 * One write of a node at a time. All of them have the node's resourceVersion as a precondition, so of two at once the API
 * server refuses one; and the answer to the first shows whether the second is still needed.
 */
export class NodeTurns {
  readonly #options: NodeTurnsOptions;
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(options: NodeTurnsOptions) {
    this.#options = options;
  }

  /** Settles as the write does. It begins when the earlier ones of the node have ended, at the latest after 5 s. */
  async run<T>(node: string, write: () => Promise<T>): Promise<T> {
    const before = this.#last.get(node);
    const own = before === undefined ? write() : this.#after(before).then(write);
    this.#last.set(node, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(node) === own) this.#last.delete(node);
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
