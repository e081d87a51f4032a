import { formatMicroTime } from '../../api/timestamps.ts';
import type { HistoryFact, Moment } from './facts.ts';
import type { Estimate, HistoryLine, Past } from './outlook.ts';

/** Infinity becomes null: not while things are as they are. What was due already is due now. */
export function deriveEstimate(atMs: number, now: Moment): Estimate {
  if (!Number.isFinite(atMs)) return { estimate: true, at: null, inSeconds: null };
  const inMs = Math.max(0, atMs - now.monotonicMs);
  return { estimate: true, at: formatMicroTime(now.wallMs + inMs), inSeconds: toSeconds(inMs) };
}

export function derivePast(atMs: number, now: Moment): Past {
  const agoMs = Math.max(0, now.monotonicMs - atMs);
  return { at: formatMicroTime(now.wallMs - agoMs), secondsAgo: toSeconds(agoMs) };
}

export function deriveHistory(history: readonly HistoryFact[]): readonly HistoryLine[] {
  return history.map(({ atMs, decision, text }) => ({ at: formatMicroTime(atMs), decision, text }));
}

/** Whole milliseconds, in seconds. */
export function toSeconds(ms: number): number {
  return Math.round(ms) / 1_000;
}
