/** Durations as printed in a table: at most two units, with the precision that matters for the length. */
import { parseTimestamp } from '../../../machinery/api/timestamps.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

interface Style {
  readonly belowSeconds: number;
  readonly unit: readonly [name: string, seconds: number];
  /** The smaller unit, printed unless it is zero. */
  readonly rest?: readonly [name: string, seconds: number];
}

const styles: readonly Style[] = [
  { belowSeconds: 2 * minute, unit: ['s', 1] },
  { belowSeconds: 10 * minute, unit: ['m', minute], rest: ['s', 1] },
  { belowSeconds: 3 * hour, unit: ['m', minute] },
  { belowSeconds: 8 * hour, unit: ['h', hour], rest: ['m', minute] },
  { belowSeconds: 2 * day, unit: ['h', hour] },
  { belowSeconds: 8 * day, unit: ['d', day], rest: ['h', hour] },
  { belowSeconds: 2 * year, unit: ['d', day] },
  { belowSeconds: 8 * year, unit: ['y', year], rest: ['d', day] },
  { belowSeconds: Number.POSITIVE_INFINITY, unit: ['y', year] },
];

/** A duration in milliseconds as `45s`, `3m5s`, `17h`, `2y40d` (upstream `duration.HumanDuration`). */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1_000);
  // Clocks differ by up to a second: slightly in the future still counts as now.
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const style = styles.find(({ belowSeconds }) => seconds < belowSeconds);
  return style === undefined ? '<invalid>' : inStyle(seconds, style);
}

/** Time since an RFC 3339 timestamp; `<unknown>` without one. */
export function ageSince(timestamp: string, nowMs: number): string {
  const atMs = parseTimestamp(timestamp);
  return atMs === undefined ? '<unknown>' : humanDuration(nowMs - atMs);
}

function inStyle(seconds: number, { unit, rest }: Style): string {
  const whole = `${Math.floor(seconds / unit[1])}${unit[0]}`;
  const left = rest === undefined ? 0 : Math.floor((seconds % unit[1]) / rest[1]);
  return left === 0 ? whole : `${whole}${left}${rest?.[0] ?? ''}`;
}
