/**
 * One open watch: receives changes in the order of their commits, writes them with backpressure, and closes the watch of
 * a client that falls too far behind: its buffer is bounded, and it delays no other watch (upstream `cacheWatcher`).
 */
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Selection } from '../registry/selection.ts';
import type { StoreChange } from '../storage/store-change.ts';
import type { Watcher } from '../storage/watch-hub.ts';
import { type EventType, eventTypeOf } from '../registry/watched-change.ts';
import { EncodeFailure, type EventEncoder } from './event-encoder.ts';
import { cutOff, type Exchange, finish, write } from './exchange.ts';
import type { Presenter } from './presenter.ts';
import { joinParts, WorkPauses } from './reply.ts';
import type { StallGate } from './stall-gate.ts';

/** Maximum number of pending changes of one client. */
const pendingEventsMax = 10_000;
/** Maximum number of pending bytes of one client. */
const pendingBytesMax = 8 * 1024 * 1024;
/** Time to read sent data after the watch of a slow client was closed, before the connection is destroyed. */
const closeGraceMs = 5_000;

type Pending =
  | { readonly kind: 'change'; readonly change: StoreChange; readonly type: EventType }
  | { readonly kind: 'bookmark'; readonly revision: number };

interface WatchStreamOptions {
  readonly exchange: Exchange;
  readonly presenter: Presenter;
  readonly encoder: EventEncoder;
  readonly selection: Selection;
  readonly stall: StallGate;
  readonly clock: Clock;
  /** The client already has the changes up to this revision. */
  readonly after: number;
  readonly bookmarks: boolean;
  readonly onEncodeFailure: (failure: EncodeFailure) => void;
  /** Monotonic milliseconds. */
  readonly deadlineMs: number;
}

export class WatchStream implements Watcher {
  readonly bucket: string;
  readonly deadlineMs: number;
  readonly #options: WatchStreamOptions;
  #pending: Pending[] = [];
  #pendingBytes = 0;
  #wake: (() => void) | undefined;
  #ended = false;
  #sentAny = false;
  /** The initial state is written; earlier bookmarks would skip parts of it. */
  #live = false;
  /** Aborts when nothing more may be written, not even pending changes. */
  readonly #aborted = new AbortController();

  constructor(options: WatchStreamOptions) {
    this.#options = options;
    this.bucket = options.selection.bucket;
    this.deadlineMs = options.deadlineMs;
  }

  get wantsBookmarks(): boolean {
    return this.#options.bookmarks && this.#live;
  }

  deliver(change: StoreChange): void {
    if (this.#ended || change.revision <= this.#options.after) return;
    const type = eventTypeOf(change, this.#options.selection);
    if (type === undefined) return;
    if (this.#pending.length >= pendingEventsMax || this.#pendingBytes >= pendingBytesMax) {
      return this.#closeSlow();
    }
    const bytes = this.#sizeOf(change, type);
    if (bytes === undefined) return this.#closeSlow();
    this.#pending.push({ kind: 'change', change, type });
    this.#pendingBytes += bytes;
    this.#wake?.();
  }

  /** Undefined for an object that cannot be encoded: it ends this watch, and neither the write nor the other watches. */
  #sizeOf(change: StoreChange, type: EventType): number | undefined {
    try {
      return this.#options.encoder.sizeOf(change, type, this.#options.presenter);
    } catch (error) {
      if (!(error instanceof EncodeFailure)) throw error;
      this.#options.onEncodeFailure(error);
      return undefined;
    }
  }

  /** Sends the current revision; skipped while the buffer is full. */
  bookmark(revision: number): void {
    if (this.#ended || this.#pending.length >= pendingEventsMax) return;
    this.#pending.push({ kind: 'bookmark', revision });
    this.#wake?.();
  }

  /** Ends the stream cleanly after the pending changes. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /**
   * Writes `initial`, then changes as they arrive. Resolves when the stream has ended for any reason but one: rejects with an
   * EncodeFailure.
   */
  async run(initial: Iterable<Buffer>): Promise<void> {
    const { exchange } = this.#options;
    const stop = (): void => this.#abort();
    exchange.signal.addEventListener('abort', stop);
    if (exchange.signal.aborted) stop();
    await this.#write(this.#markSent(initial));
    this.#live = true;
    while (!this.#ended || this.#pending.length > 0) {
      await this.#next();
      await this.#options.stall.pass(this.#aborted.signal);
      await this.#flush();
    }
    exchange.signal.removeEventListener('abort', stop);
    finish(exchange.outgoing);
  }

  async #write(lines: Iterable<Buffer>): Promise<void> {
    const { signal } = this.#aborted;
    const pauses = new WorkPauses(this.#options.clock);
    for (const chunk of joinParts(lines)) {
      await write(this.#options.exchange.outgoing, chunk, signal);
      await pauses.pause();
    }
  }

  #abort(): void {
    this.#drop();
    this.#aborted.abort();
    this.end();
  }

  #drop(): void {
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  *#markSent(initial: Iterable<Buffer>): Generator<Buffer> {
    for (const line of initial) {
      this.#sentAny = true;
      yield line;
      if (this.#aborted.signal.aborted) return;
    }
  }

  async #next(): Promise<void> {
    if (this.#pending.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    // One iteration of the event loop: changes committed meanwhile are part of the same write.
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }

  async #flush(): Promise<void> {
    const taken = this.#pending;
    this.#drop();
    await this.#write(this.#lines(taken));
  }

  *#lines(taken: readonly Pending[]): Generator<Buffer> {
    const { encoder, presenter } = this.#options;
    for (const entry of taken) {
      if (entry.kind === 'bookmark') {
        yield presenter.bookmark(entry.revision, false, !this.#sentAny);
      } else {
        yield encoder.encode(entry.change, entry.type, presenter, !this.#sentAny);
      }
      this.#sentAny = true;
    }
  }

  /** Closes the stream without an ERROR event; the client resumes from its last version, or lists again. */
  #closeSlow(): void {
    const { exchange, clock } = this.#options;
    this.#abort();
    void clock.sleep(closeGraceMs, exchange.signal).then(() => {
      if (!exchange.signal.aborted) cutOff(exchange.outgoing);
    });
  }
}
