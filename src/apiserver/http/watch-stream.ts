/**
 * One open watch: takes changes in order as they are committed, writes them at the reader's pace, and gives up on a reader
 * who falls too far behind - its buffer is bounded, and nobody else waits for it (upstream `cacheWatcher`).
 */
import type { Clock } from '../../ports/clock.ts';
import type { Selection } from '../registry/selection.ts';
import type { StoreChange } from '../storage/store-change.ts';
import type { Watcher } from '../storage/watch-hub.ts';
import { type EventEncoder, eventTypeOf } from './event-encoder.ts';
import { cutOff, type Exchange, finish, write } from './exchange.ts';
import type { EventType, Presenter } from './presenter.ts';
import { joinParts } from './reply.ts';

/** Changes that may wait for one reader. */
export const pendingEventsMax = 10_000;
/** Bytes of objects that may wait for one reader. */
export const pendingBytesMax = 8 * 1024 * 1024;
/** A reader who was given up has this long to take what is already on its way, before the connection is cut. */
const partingMs = 5_000;

type Pending =
  | { readonly kind: 'change'; readonly change: StoreChange; readonly type: EventType }
  | { readonly kind: 'bookmark'; readonly revision: number };

export interface WatchStreamOptions {
  readonly exchange: Exchange;
  readonly presenter: Presenter;
  readonly encoder: EventEncoder;
  readonly selection: Selection;
  readonly clock: Clock;
  /** Changes up to here are known to the reader already. */
  readonly after: number;
  readonly bookmarks: boolean;
  /** Monotonic. */
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
  /** The initial state is out; bookmarks before that would promise too much. */
  #live = false;
  /** Aborts when nothing more is to be written, not even what is pending. */
  readonly #silenced = new AbortController();

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
      this.#giveUp();
      return;
    }
    this.#pending.push({ kind: 'change', change, type });
    this.#pendingBytes += change.object.tail.length;
    this.#wake?.();
  }

  /** Tells the reader how far it has seen; left out when it is busy enough. */
  bookmark(revision: number): void {
    if (this.#ended || this.#pending.length >= pendingEventsMax) return;
    this.#pending.push({ kind: 'bookmark', revision });
    this.#wake?.();
  }

  /** Ends the stream cleanly after what is pending. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Writes `initial`, then changes as they come. Resolves when the stream has ended, whoever ended it. */
  async run(initial: Iterable<Buffer>): Promise<void> {
    const { exchange } = this.#options;
    const stop = (): void => this.#silence();
    exchange.signal.addEventListener('abort', stop);
    if (exchange.signal.aborted) stop();
    await this.#write(this.#noting(initial));
    this.#live = true;
    while (!this.#ended || this.#pending.length > 0) {
      await this.#next();
      await this.#flush();
    }
    exchange.signal.removeEventListener('abort', stop);
    finish(exchange.outgoing);
  }

  async #write(lines: Iterable<Buffer>): Promise<void> {
    const { signal } = this.#silenced;
    for (const chunk of joinParts(lines)) await write(this.#options.exchange.outgoing, chunk, signal);
  }

  #silence(): void {
    this.#drop();
    this.#silenced.abort();
    this.end();
  }

  #drop(): void {
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  *#noting(initial: Iterable<Buffer>): Generator<Buffer> {
    for (const line of initial) {
      this.#sentAny = true;
      yield line;
      if (this.#silenced.signal.aborted) return;
    }
  }

  async #next(): Promise<void> {
    if (this.#pending.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    // One turn of the loop: what is committed meanwhile goes out in the same write.
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
        yield presenter.bookmark(entry.revision, false);
        continue;
      }
      yield encoder.encode(entry.change, entry.type, presenter, !this.#sentAny);
      this.#sentAny = true;
    }
  }

  /** The stream ends without a word; the reader comes back with the last version it has seen, or lists again. */
  #giveUp(): void {
    const { exchange, clock } = this.#options;
    this.#silence();
    void clock.sleep(partingMs, exchange.signal).then(() => {
      if (!exchange.signal.aborted) cutOff(exchange.outgoing);
    });
  }
}
