import type { EventV1 } from '../api/event.ts';
import { correlateSeries, decideSeriesEnd, buildSeriesWrite, type Series, seriesKey } from './correlate-series.ts';
import type { Recorded } from './event-queue.ts';
import type { EventWrite } from './event-sink.ts';
import { LruMap } from '../queueing/lru-map.ts';

/** Maximum number of series; the least recently used one is evicted, its last count written. */
export const seriesMaxDefault = 4_096;
/** One try for counts that are written again later anyway (`refreshExistingEventSeries`, `finishSeries`). */
const dueTriesMax = 1;

/** The first event of a series, or the current count of the series. */
export interface SeriesWrite extends EventWrite {
  readonly event: EventV1;
  readonly key: string;
  /**
   * `recorded`: the event was just recorded. The others are due counts: `refresh` an active series, `finish` a finished
   * one, `gone`: the series was evicted.
   */
  readonly why: 'recorded' | 'refresh' | 'finish' | 'gone';
}

type DueCount =
  | { readonly why: 'refresh' | 'finish'; readonly key: string }
  | { readonly why: 'gone'; readonly key: string; readonly series: Series };

interface SeriesEntry {
  readonly key: string;
  readonly series: Series;
  /** The count that the API server accepted or rejected last. */
  readonly writtenCount: number;
}

/** The active series and the counts that are due. See `correlate-series.ts` for the rules. */
export class SeriesTable {
  readonly #entries: LruMap<SeriesEntry>;
  /** At most one for each entry, and one for each entry evicted since. */
  readonly #due: DueCount[] = [];

  constructor(seriesMax: number) {
    this.#entries = new LruMap(seriesMax);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts the event, and returns what must be written at once. */
  observe({ event, source, atMs }: Recorded<EventV1>): SeriesWrite | undefined {
    const key = seriesKey(event, source);
    const known = this.#entries.get(key);
    const { series, write } = correlateSeries(known?.series, event, atMs);
    const evicted = this.#entries.set(key, { key, series, writtenCount: known?.writtenCount ?? 0 });
    if (evicted !== undefined && isUnwritten(evicted))
      this.#due.push({ why: 'gone', key: evicted.key, series: evicted.series });
    return write === 'nothing' ? undefined : { ...buildSeriesWrite(series), key, why: 'recorded' };
  }

  /**
   * Checks all series: schedules the last count of every finished series and, with `refresh`, the current count of the
   * others; deletes series with one occurrence. Returns false without checking while counts scheduled earlier are still
   * pending.
   */
  check(nowMs: number, refresh: boolean): boolean {
    if (this.#due.length > 0) return false;
    for (const [key, { series }] of this.#entries.entries()) {
      const end = decideSeriesEnd(series, nowMs);
      if (end === 'forget') this.#entries.delete(key);
      else if (end === 'finish') this.#due.push({ why: 'finish', key });
      else if (refresh && series.count > 1) this.#due.push({ why: 'refresh', key });
    }
    return true;
  }

  /** Schedules every count that is not written yet; for shutdown. */
  scheduleAll(): void {
    const left = this.#due.splice(0).filter(({ why }) => why === 'gone');
    const unwritten = [...this.#entries.entries()].filter(([, entry]) => isUnwritten(entry));
    this.#due.push(...left, ...unwritten.map(([key]) => ({ why: 'refresh', key }) as const));
  }

  /** The next due count. Read when it is written, so that it is the current one. */
  nextDue(nowMs: number): SeriesWrite | undefined {
    for (let dueCount = this.#due.shift(); dueCount !== undefined; dueCount = this.#due.shift()) {
      const write = this.#writeOf(dueCount, nowMs);
      if (write !== undefined) return write;
    }
    return undefined;
  }

  /** The API server accepted it, or rejected it finally. */
  settle({ key, event, why }: SeriesWrite): void {
    const entry = this.#entries.peek(key);
    // The series may have been evicted and restarted in the meantime.
    if (entry === undefined || entry.series.event.metadata.name !== event.metadata.name) return;
    if (why === 'finish') this.#entries.delete(key);
    else this.#entries.replace(key, { ...entry, writtenCount: event.series?.count ?? 1 });
  }

  #writeOf(dueCount: DueCount, nowMs: number): SeriesWrite | undefined {
    const { why, key } = dueCount;
    const series = why === 'gone' ? dueCount.series : this.#entries.peek(key)?.series;
    if (series === undefined || series.count < 2) return undefined;
    if (why === 'finish' && decideSeriesEnd(series, nowMs) === 'keep') return undefined;
    const write = { ...buildSeriesWrite(series), key, why };
    return why === 'gone' ? write : { ...write, triesMax: dueTriesMax };
  }
}

/** A single event is written as a whole when it is recorded. */
function isUnwritten({ series, writtenCount }: SeriesEntry): boolean {
  return series.count > 1 && series.count > writtenCount;
}
