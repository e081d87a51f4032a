import type { NewerEvent } from '../api/event.ts';
import { correlateSeries, decideSeriesEnd, deriveSeriesWrite, type Series, seriesKey } from './correlate-series.ts';
import type { Recorded } from './event-queue.ts';
import type { EventWrite } from './event-sink.ts';
import { LruMap } from './lru-map.ts';

/** Kinds of events that are remembered; whichever did not happen for longest is told to its end and starts over. */
export const seriesMaxDefault = 4_096;
/** A count that is told again anyhow need not be told with patience (`refreshExistingEventSeries`, `finishSeries`). */
const choreTriesMax = 1;

/** The first of a kind, or the present count of its series. */
export interface SeriesWrite extends EventWrite {
  readonly event: NewerEvent;
  readonly key: string;
  /**
   * Because it was just `recorded`, or because a count is due: to `refresh` a series, to `finish` one that is over, or to tell
   * of one that is `gone` from memory.
   */
  readonly why: 'recorded' | 'refresh' | 'finish' | 'gone';
}

type Chore =
  | { readonly why: 'refresh' | 'finish'; readonly key: string }
  | { readonly why: 'gone'; readonly key: string; readonly series: Series };

interface Entry {
  readonly key: string;
  readonly series: Series;
  /** The count that the API server has taken, or refused, last. */
  readonly toldCount: number;
}

/** The series that are going on, and the counts that are due. See `correlate-series.ts` for the rules. */
export class SeriesTable {
  readonly #entries: LruMap<Entry>;
  /** At most one for each entry, and one for each that had to go since. */
  readonly #chores: Chore[] = [];

  constructor(seriesMax: number) {
    this.#entries = new LruMap(seriesMax);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts it, and returns what is to be told at once. */
  observe({ event, source, atMs }: Recorded<NewerEvent>): SeriesWrite | undefined {
    const key = seriesKey(event, source);
    const known = this.#entries.get(key);
    const { series, tell } = correlateSeries(known?.series, event, atMs);
    const gone = this.#entries.set(key, { key, series, toldCount: known?.toldCount ?? 0 });
    if (gone !== undefined && isUntold(gone)) this.#chores.push({ why: 'gone', key: gone.key, series: gone.series });
    return tell === 'nothing' ? undefined : { ...deriveSeriesWrite(series), key, why: 'recorded' };
  }

  /**
   * Looks at all of them: plans the last count of every series that is over and, if they are to be refreshed, the present
   * one of the others; forgets what happened once. False when it did not look, because what an earlier look found is not
   * told yet.
   */
  look(nowMs: number, refresh: boolean): boolean {
    if (this.#chores.length > 0) return false;
    for (const [key, { series }] of this.#entries.entries()) {
      const end = decideSeriesEnd(series, nowMs);
      if (end === 'forget') this.#entries.delete(key);
      else if (end === 'finish') this.#chores.push({ why: 'finish', key });
      else if (refresh && series.count > 1) this.#chores.push({ why: 'refresh', key });
    }
    return true;
  }

  /** Plans the telling of every count that the API server has not heard, because there will be no other time. */
  planRest(): void {
    const left = this.#chores.splice(0).filter(({ why }) => why === 'gone');
    const untold = [...this.#entries.entries()].filter(([, entry]) => isUntold(entry));
    this.#chores.push(...left, ...untold.map(([key]) => ({ why: 'refresh', key }) as const));
  }

  /** The next count that is due. Looked up when its turn comes, so that it is the present one. */
  nextDue(nowMs: number): SeriesWrite | undefined {
    for (let chore = this.#chores.shift(); chore !== undefined; chore = this.#chores.shift()) {
      const write = this.#writeOf(chore, nowMs);
      if (write !== undefined) return write;
    }
    return undefined;
  }

  /** The API server has taken it, or has said that it never will. */
  settle({ key, event, why }: SeriesWrite): void {
    const entry = this.#entries.peek(key);
    // Meanwhile the kind may have been forgotten and have happened anew.
    if (entry === undefined || entry.series.event.metadata.name !== event.metadata.name) return;
    if (why === 'finish') this.#entries.delete(key);
    else this.#entries.replace(key, { ...entry, toldCount: event.series?.count ?? 1 });
  }

  #writeOf(chore: Chore, nowMs: number): SeriesWrite | undefined {
    const { why, key } = chore;
    const series = why === 'gone' ? chore.series : this.#entries.peek(key)?.series;
    if (series === undefined || series.count < 2) return undefined;
    if (why === 'finish' && decideSeriesEnd(series, nowMs) === 'keep') return undefined;
    const write = { ...deriveSeriesWrite(series), key, why };
    return why === 'gone' ? write : { ...write, triesMax: choreTriesMax };
  }
}

/** What happened once was told as a whole, or given up. */
function isUntold({ series, toldCount }: Entry): boolean {
  return series.count > 1 && series.count > toldCount;
}
