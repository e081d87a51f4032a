import { mapOf, parsedOf } from '../../machinery/api/json-map.ts';
import { formatTime, parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { FlappingRecord } from '../model/flapping.ts';
import { levelMax } from './decide-level.ts';

const recordCharsMax = 200;

/** The value of the annotation: `{"level":2,"until":"2026-11-24T12:10:00Z"}`. */
export function formatRecord(level: number, untilMs: number): string {
  return JSON.stringify({ level, until: formatTime(untilMs) });
}

/** Undefined: malformed. */
export function parseRecord(text: string): FlappingRecord | undefined {
  if (text.length > recordCharsMax) return undefined;
  const { level, until } = mapOf(parsedOf(text));
  const untilMs = parseTimestamp(until);
  if (!isLevel(level) || typeof until !== 'string' || untilMs === undefined) return undefined;
  return { level, until, untilMs };
}

function isLevel(level: unknown): level is number {
  return typeof level === 'number' && Number.isInteger(level) && level >= 1 && level <= levelMax;
}
