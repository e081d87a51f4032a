import type { Clock } from '../ports/clock.ts';
import { type EventSink, type EventWrite, type Settled, triesMax } from './event-sink.ts';

/** After the end everything waiting gets one chance, not a dozen. */
const flushTriesMax = 1;

/** Where the writer finds what to write. */
export interface WriteSource<W extends EventWrite> {
  /** Events recorded and not yet written or dropped, the one in hand included. */
  readonly pending: number;
  /** The next write, or undefined when there is none for now. Not called again before {@link done}. */
  next(): W | undefined;
  done(write: W, delivery: Settled): void;
  /** No more is written, ever. */
  close(): void;
}

/** The one loop that writes events: one at a time, in the order of its source. */
export class EventWriter<W extends EventWrite> {
  readonly #source: WriteSource<W>;
  readonly #sink: EventSink;
  readonly #clock: Clock;
  /** Begun and not finished: it is tried again before anything else. */
  #inHand: W | undefined;
  #running = false;
  #wake: () => void = () => {};
  readonly #idleWaiters = new Set<() => void>();

  constructor(source: WriteSource<W>, sink: EventSink, clock: Clock) {
    this.#source = source;
    this.#sink = sink;
    this.#clock = clock;
  }

  get running(): boolean {
    return this.#running;
  }

  /** There is something to write. */
  wake(): void {
    this.#wake();
  }

  /**
   * Writes until the signal aborts, then stops at once, even between two tries. Nothing that happens to an event makes it
   * reject; running it twice at a time does.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new Error('this broadcaster is running already');
    this.#running = true;
    while (!signal.aborted) {
      // Nothing may come between finding nothing and waiting for something: it would not be heard.
      const write = this.#nextWrite();
      if (write !== undefined) await this.#write(write, triesMax, signal);
      else await this.#woken(signal);
    }
    this.#running = false;
    this.#showIdle();
  }

  /**
   * Waits until everything recorded is written, `timeoutMs` at most, and resolves with the number of events left. While
   * {@link run} runs it merely waits. After that it writes by itself, one try for each, and is the end: what is left then
   * is forgotten, and what is recorded later is dropped.
   */
  async flush(timeoutMs: number): Promise<number> {
    const over = new AbortController();
    const expiry = this.#clock.sleep(timeoutMs, over.signal).then(() => over.abort());
    await this.#idle(over.signal);
    if (!this.#running) await this.#writeRest(over.signal);
    over.abort();
    await expiry;
    return this.#source.pending;
  }

  async #writeRest(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const write = this.#nextWrite();
      if (write === undefined) break;
      await this.#write(write, flushTriesMax, signal);
    }
    this.#source.close();
  }

  #nextWrite(): W | undefined {
    this.#inHand ??= this.#source.next();
    return this.#inHand;
  }

  async #write(write: W, tries: number, signal: AbortSignal): Promise<void> {
    const delivery = await this.#sink.deliver(write, Math.min(tries, write.triesMax ?? tries), signal);
    if (delivery === 'unfinished') return;
    this.#inHand = undefined;
    this.#source.done(write, delivery);
    if (this.#source.pending === 0) this.#showIdle();
  }

  /** Resolves when there is something to write or the signal aborts. */
  #woken(signal: AbortSignal): Promise<void> {
    this.#showIdle();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.#wake = () => {};
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake);
    });
  }

  /** Resolves when the loop has nothing left to write or has ended, or when the signal aborts. */
  #idle(signal: AbortSignal): Promise<void> {
    if (!this.#running || this.#source.pending === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#idleWaiters.delete(done);
        resolve();
      };
      this.#idleWaiters.add(done);
      signal.addEventListener('abort', done);
    });
  }

  #showIdle(): void {
    for (const done of this.#idleWaiters) done();
  }
}
