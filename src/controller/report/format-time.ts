import { formatMicroTime } from '../../machinery/api/timestamps.ts';
import type { Now } from '../model/node-state.ts';
import type { Estimate, EvictionOutlook, NextAction, Past } from './pages.ts';

/** A prediction with its time on the monotonic clock; Infinity: not in the current state. */
export type Forecast<T> = Omit<T, 'when'> & { readonly atMs: number };

/** Infinity becomes null: does not happen in the current state. A time in the past becomes now. */
export function formatEstimate(atMs: number, now: Now): Estimate {
  if (!Number.isFinite(atMs)) return { estimate: true, at: null, inSeconds: null };
  const inMs = Math.max(0, atMs - now.monotonicMs);
  return { estimate: true, at: formatMicroTime(now.wallMs + inMs), inSeconds: toSeconds(inMs) };
}

export function formatPast(atMs: number, now: Now): Past {
  const agoMs = Math.max(0, now.monotonicMs - atMs);
  return { at: formatMicroTime(now.wallMs - agoMs), secondsAgo: toSeconds(agoMs) };
}

/** A past wall time. */
export function formatWallPast(wallMs: number, now: Now): Past {
  return formatPast(now.monotonicMs - (now.wallMs - wallMs), now);
}

export function formatEviction({ atMs, ...forecast }: Forecast<EvictionOutlook>, now: Now): EvictionOutlook {
  return { ...forecast, when: formatEstimate(atMs, now) };
}

/** The earliest action. */
export function formatAction(actions: readonly Forecast<NextAction>[], now: Now): NextAction {
  const soonest = selectSoonest(actions);
  if (soonest === undefined) return { act: 'none', subject: null, given: 'nothing-changes', when: null };
  const { atMs, ...action } = soonest;
  return { ...action, when: formatEstimate(atMs, now) };
}

/** The first action by time; of several at the same time, the first in the list. */
export function selectSoonest<T extends { readonly atMs: number }>(all: readonly T[]): T | undefined {
  return all.reduce<T | undefined>(
    (soonest, next) => (soonest && soonest.atMs <= next.atMs ? soonest : next),
    undefined,
  );
}

/** Whole milliseconds, in seconds. */
export function toSeconds(ms: number): number {
  return Math.round(ms) / 1_000;
}
