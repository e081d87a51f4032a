interface Sender<T> {
  readonly item: T;
  readonly settle: (taken: boolean) => void;
}

/**
 * A bounded FIFO queue between one sending and one receiving loop. `send` waits while the queue is full, `offer` returns
 * false; `take` returns what is queued. It applies the backpressure of a buffered Go channel, which an EventEmitter does
 * not.
 */
export class Channel<T> {
  readonly #capacity: number;
  readonly #items: T[] = [];
  readonly #senders: Sender<T>[] = [];
  #listeners: readonly (() => void)[] = [];
  #closed = false;

  /** `capacity`: maximum number of queued items, at least 1. */
  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1)
      throw new RangeError(`capacity: must be a whole number >= 1 (got ${capacity})`);
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#items.length;
  }

  /** Closed and empty. */
  get isDone(): boolean {
    return this.#closed && this.#items.length === 0;
  }

  /** Queues the item, or returns false at once if the channel is full or closed. */
  offer(item: T): boolean {
    if (this.#closed || this.#items.length >= this.#capacity) return false;
    this.#put(item);
    return true;
  }

  /** Waits for room, first come first served. False if the signal aborted or the channel closed before the item was queued. */
  async send(item: T, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.#closed) return false;
    return this.offer(item) || (await this.#queue(item, signal));
  }

  /** The oldest item; undefined if the channel is empty. */
  take(): T | undefined {
    const item = this.#items.shift();
    // The longest waiting sender gets the free slot: while a slot is free, no sender waits.
    const sender = this.#senders.shift();
    if (sender !== undefined) this.#put(sender.item);
    sender?.settle(true);
    return item;
  }

  /** No more items are accepted; queued items can still be taken, and waiting senders resolve with false. */
  close(): void {
    this.#closed = true;
    for (const sender of this.#senders.splice(0)) sender.settle(false);
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after each queued item and at the close. Returns the unsubscribe function. */
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
