/**
 * Fewer events in events.k8s.io/v1: what happens again is counted in the series of what happened first, and the count is told
 * once at the second time, then now and then. The rules and numbers are those of client-go's `tools/events`; how long
 * nothing happened is monotonic time. Notes are no part of it: only the first is told.
 */
import type { EventSeries, NewerEvent } from '../api/event.ts';
import type { EventSource } from './derive-event.ts';

/** Between two looks at what has ended, and so long nothing must have happened (`finishTime`). */
export const seriesFinishMs = 360_000;
/** Between two times that an unfinished series is told again, so that it outlives its hour (`refreshTime`). */
export const seriesRefreshMs = 1_800_000;

/** What is remembered of one kind of event. */
export interface Series {
  /** The first, as it was told. */
  readonly event: NewerEvent;
  /** The first one included. */
  readonly count: number;
  readonly lastObservedTime: string;
  /** Monotonic. */
  readonly lastAtMs: number;
}

/** What a series changes in the event that it belongs to, as a strategic merge patch. */
export interface SeriesPatch {
  readonly series: EventSeries;
}

/** Counts an event into the series of its kind, and says what is to be told at once (`recordToSink`). */
export function correlateSeries(
  known: Series | undefined,
  event: NewerEvent,
  atMs: number,
): { readonly series: Series; readonly tell: 'event' | 'series' | 'nothing' } {
  const { eventTime } = event;
  if (known === undefined)
    return { series: { event, count: 1, lastObservedTime: eventTime, lastAtMs: atMs }, tell: 'event' };
  const count = known.count + 1;
  const series = { event: known.event, count, lastObservedTime: eventTime, lastAtMs: atMs };
  return { series, tell: count === 2 ? 'series' : 'nothing' };
}

/** The event with its series, and the patch that makes the stored one so; what happened once has none. */
export function deriveSeriesWrite({ event, count, lastObservedTime }: Series): {
  readonly event: NewerEvent;
  readonly patch: SeriesPatch | undefined;
} {
  if (count < 2) return { event, patch: undefined };
  const series = { count, lastObservedTime };
  return { event: { ...event, series }, patch: { series } };
}

/** What a look at it says: still going on; over, and the last count is to be told; over, and all is told (`finishSeries`). */
export function decideSeriesEnd({ count, lastAtMs }: Series, nowMs: number): 'keep' | 'finish' | 'forget' {
  if (nowMs - lastAtMs <= seriesFinishMs) return 'keep';
  return count < 2 ? 'forget' : 'finish';
}

/** Events under one key are the same but for their notes and times (`getKey`). */
export function seriesKey(event: NewerEvent, source: EventSource): string {
  const { type, action, reason, regarding, related } = event;
  return JSON.stringify([source.component, source.host, type, action, reason, regarding, related]);
}
