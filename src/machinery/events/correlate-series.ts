/**
 * Event series of events.k8s.io/v1: repeats are counted in the series of the first event, and the count is written at the
 * second occurrence, then periodically. Rules and numbers are those of client-go's `tools/events`; the time since the
 * last occurrence is monotonic. Notes are not part of the key: only the first note is written.
 */
import type { EventSeries, EventV1 } from '../api/event.ts';
import type { EventSource } from './build-event.ts';

/** Interval between two checks for finished series, and the time without an occurrence that finishes one (`finishTime`). */
export const seriesFinishMs = 360_000;
/** Interval after which an unfinished series is written again, so that it outlives the event TTL of 1 h (`refreshTime`). */
export const seriesRefreshMs = 1_800_000;

/** State of one series. */
export interface Series {
  /** The first event, as it was recorded. */
  readonly event: EventV1;
  /** Includes the first event. */
  readonly count: number;
  readonly lastObservedTime: string;
  /** Monotonic milliseconds. */
  readonly lastAtMs: number;
}

/** The fields that a series changes in its event, as a strategic merge patch. */
interface SeriesPatch {
  readonly series: EventSeries;
}

/** Counts an event into its series, and returns what must be written at once (`recordToSink`). */
export function correlateSeries(
  known: Series | undefined,
  event: EventV1,
  atMs: number,
): { readonly series: Series; readonly write: 'event' | 'series' | 'nothing' } {
  const { eventTime } = event;
  if (known === undefined)
    return { series: { event, count: 1, lastObservedTime: eventTime, lastAtMs: atMs }, write: 'event' };
  const count = known.count + 1;
  const series = { event: known.event, count, lastObservedTime: eventTime, lastAtMs: atMs };
  return { series, write: count === 2 ? 'series' : 'nothing' };
}

/** The event with its series, and the patch for the stored one; undefined for an event that occurred once. */
export function buildSeriesWrite({ event, count, lastObservedTime }: Series): {
  readonly event: EventV1;
  readonly patch: SeriesPatch | undefined;
} {
  if (count < 2) return { event, patch: undefined };
  const series = { count, lastObservedTime };
  return { event: { ...event, series }, patch: { series } };
}

/** State of a series at a check: still active; finished, with a last count to write; finished and written (`finishSeries`). */
export function decideSeriesEnd({ count, lastAtMs }: Series, nowMs: number): 'keep' | 'finish' | 'forget' {
  if (nowMs - lastAtMs <= seriesFinishMs) return 'keep';
  return count < 2 ? 'forget' : 'finish';
}

/** Events under one key differ only in their notes and times (`getKey`). */
export function seriesKey(event: EventV1, source: EventSource): string {
  const { type, action, reason, regarding, related } = event;
  return JSON.stringify([source.component, source.host, type, action, reason, regarding, related]);
}
