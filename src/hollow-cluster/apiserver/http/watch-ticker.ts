/** The timer of all open watches: periodic bookmarks, and the end at their deadline. */
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { WatchStream } from './watch-stream.ts';

/** Resolution of bookmarks and deadlines. */
const tickMs = 500;
/** Upstream `defaultBookmarkFrequency`. */
const bookmarkPeriodMs = 60_000;
/** A last bookmark is sent this long before the deadline of a watch, so that its client need not list again. */
const beforeDeadlineMs = 2_000;

export class WatchTicker {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #bookmarkAtMs = new Map<WatchStream, number>();

  constructor(clock: Clock, periodMs = bookmarkPeriodMs) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  get size(): number {
    return this.#bookmarkAtMs.size;
  }

  add(stream: WatchStream): void {
    this.#bookmarkAtMs.set(stream, this.#nextBookmarkMs(stream));
  }

  remove(stream: WatchStream): void {
    this.#bookmarkAtMs.delete(stream);
  }

  endAll(): void {
    for (const stream of this.#bookmarkAtMs.keys()) stream.end();
  }

  /** Ticks until the signal aborts; `revision` is read when a bookmark is due. */
  async run(revision: () => number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(Math.min(tickMs, this.#periodMs), signal);
      this.#tick(revision());
    }
  }

  #tick(revision: number): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [stream, atMs] of this.#bookmarkAtMs) {
      if (nowMs >= stream.deadlineMs) {
        stream.end();
      } else if (nowMs >= atMs && stream.wantsBookmarks) {
        stream.bookmark(revision);
        this.#bookmarkAtMs.set(stream, this.#nextBookmarkMs(stream));
      }
    }
  }

  /** Upstream `cacheWatcher.nextBookmarkTime`. */
  #nextBookmarkMs({ deadlineMs }: WatchStream): number {
    const nowMs = this.#clock.monotonicMs();
    const lastMs = deadlineMs - beforeDeadlineMs;
    return lastMs > nowMs ? Math.min(nowMs + this.#periodMs, lastMs) : nowMs + this.#periodMs;
  }
}
