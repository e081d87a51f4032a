interface Sender<T> {
  readonly item: T;
  readonly settle: (taken: boolean) => void;
}

/**
 * A queue with a bound between one sender's loop and one reader's: first in, first out. Who sends into a full one
 * waits, or is told so; who reads asks what is there. It gives the back-pressure of a buffered Go channel, which an event
 * emitter would not.
 */
export class Channel<T> {
  readonly #capacity: number;
  readonly #items: T[] = [];
  readonly #senders: Sender<T>[] = [];
  #listeners: readonly (() => void)[] = [];
  #closed = false;

  /** `capacity`: how many items may wait, at least 1. */
  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1)
      throw new RangeError(`capacity: got ${capacity}; accepted: 1 or more`);
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#items.length;
  }

  /** Closed, and nothing is left to take. */
  get isDone(): boolean {
    return this.#closed && this.#items.length === 0;
  }

  /** Takes the item in, or says no at once: there is no room, or it is closed. */
  offer(item: T): boolean {
    if (this.#closed || this.#items.length >= this.#capacity) return false;
    this.#put(item);
    return true;
  }

  /** Waits for room, in the order of asking. False when the signal aborted, or the channel closed, before there was any. */
  async send(item: T, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.#closed) return false;
    return this.offer(item) || (await this.#queue(item, signal));
  }

  /** The oldest item; undefined when there is none. */
  take(): T | undefined {
    const item = this.#items.shift();
    // Whoever waits comes in before anybody new can: room that is free means that nobody waits.
    const sender = this.#senders.shift();
    if (sender !== undefined) this.#put(sender.item);
    sender?.settle(true);
    return item;
  }

  /** No more items are taken in; those that are in can still be taken, and who waits for room is let go. */
  close(): void {
    this.#closed = true;
    for (const sender of this.#senders.splice(0)) sender.settle(false);
    for (const listener of this.#listeners) listener();
  }

  /** Calls back after each item that comes in, and at the close. Returns the way to leave. */
  onReady(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  #queue(item: T, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#senders.splice(this.#senders.indexOf(sender), 1);
        sender.settle(false);
      };
      const settle = (taken: boolean): void => {
        signal.removeEventListener('abort', leave);
        resolve(taken);
      };
      const sender = { item, settle };
      this.#senders.push(sender);
      signal.addEventListener('abort', leave);
    });
  }

  #put(item: T): void {
    this.#items.push(item);
    for (const listener of this.#listeners) listener();
  }
}
