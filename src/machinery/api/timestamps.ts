/** RFC 3339 text to and from milliseconds. Pure: no function reads a clock. */
import { withoutTrailing } from './without-trailing.ts';

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
/** Two clocks of a cluster may differ by this much: a time that another client wrote is used within it. */
export const clockSkewMs = 60_000;

/** Four-digit years: others cannot be formatted as RFC 3339. */
const msLimits = { min: Date.parse('0000-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59.999Z') } as const;

/**
 * Milliseconds since the epoch, or undefined if the text is missing or not an RFC 3339 time. Sub-millisecond digits are
 * truncated.
 */
export function parseTimestamp(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const common = parseCommon(text);
  if (common !== undefined) return common;
  if (!rfc3339.test(text)) return undefined;
  const ms = Date.parse(text);
  return isRepresentable(ms) ? ms : undefined;
}

const secondChars = '2026-11-21T06:42:20Z'.length;
const microChars = '2026-11-21T06:42:20.123456Z'.length;
/** Every month has at least this many days. */
const commonDayMax = 28;

/**
 * Fast path for the format that API servers write, with six fractional digits or none; undefined for input that needs the
 * full parser.
 */
function parseCommon(text: string): number | undefined {
  const micro = text.length === microChars;
  if (!(micro || text.length === secondChars) || !hasMarks(text, micro)) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  if (!isCommonDate(year, month, day) || !(hour <= 23 && minute <= 59 && second <= 59)) return undefined;
  const micros = micro ? digits(text, 20, 26) : 0;
  if (Number.isNaN(micros)) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second, Math.floor(micros / 1_000));
}

/** `Date.UTC` maps years below 100 to 1900-1999. */
function isCommonDate(year: number, month: number, day: number): boolean {
  return year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= commonDayMax;
}

function hasMarks(text: string, micro: boolean): boolean {
  return (
    isAt(text, 4, '-') &&
    isAt(text, 7, '-') &&
    isAt(text, 10, 'T') &&
    isAt(text, 13, ':') &&
    isAt(text, 16, ':') &&
    isAt(text, text.length - 1, 'Z') &&
    (!micro || isAt(text, 19, '.'))
  );
}

function isAt(text: string, index: number, mark: string): boolean {
  return text.charCodeAt(index) === mark.charCodeAt(0);
}

/** NaN if a character is not a digit. */
function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    value = digit >= 0 && digit <= 9 ? value * 10 + digit : Number.NaN;
  }
  return value;
}

/**
 * Whether a time has exactly the form of {@link formatTime}, or with `micros` that of {@link formatMicroTime}. False for
 * some that need the full parser.
 */
export function isCanonicalTime(text: string, micros = false): boolean {
  return text.length === (micros ? microChars : secondChars) && parseCommon(text) !== undefined;
}

interface FormattedSecond {
  readonly second: number;
  readonly text: string;
  readonly dateTime: string;
}

/**
 * Results for the last seconds, each at its remainder: the times of one status, and those of one moment, are the same second
 * or, on machines whose clocks differ, one of a few.
 */
const formatted: FormattedSecond[] = [];
const formattedMax = 64;

function formatSecond(second: number): FormattedSecond {
  const place = Math.abs(second % formattedMax);
  const known = formatted[place];
  if (known?.second === second) return known;
  const dateTime = new Date(second * 1_000).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
  const made = { second, text: `${dateTime}Z`, dateTime };
  formatted[place] = made;
  return made;
}

/** Whether RFC 3339 can represent the time: from the year 0 to 9999. */
export function isRepresentable(ms: number): boolean {
  return ms >= msLimits.min && ms <= msLimits.max;
}

/** The nearest time that RFC 3339 can represent: tolerations and grace periods may last beyond the year 9999. */
function limitTime(ms: number): number {
  return Math.min(Math.max(ms, msLimits.min), msLimits.max);
}

/** Whole seconds from a time to the last one that RFC 3339 can represent. */
export function secondsUntilLastTime(ms: number): number {
  return Math.max(0, Math.floor((msLimits.max - ms) / 1_000));
}

/** `metav1.Time`: UTC, whole seconds, such as `2026-11-21T06:42:20Z`. Fractions are truncated, as in the API server. */
export function formatTime(ms: number): string {
  return formatSecond(Math.floor(limitTime(ms) / 1_000)).text;
}

/** `metav1.MicroTime`: exactly six fractional digits. A real API server responds with 400 to three (kubernetes#89156). */
export function formatMicroTime(ms: number): string {
  const limited = limitTime(ms);
  const whole = Math.floor(limited);
  const second = Math.floor(whole / 1_000);
  const micros = (whole - second * 1_000) * 1_000 + Math.floor((limited - whole) * 1_000);
  return `${formatSecond(second).dateTime}.${String(micros).padStart(6, '0')}Z`;
}

/** Go's `RFC3339Nano`: fractional digits without trailing zeros, none for a whole second. */
export function formatNanoTime(ms: number): string {
  return `${withoutTrailing(withoutTrailing(formatMicroTime(ms).slice(0, -1), '0'), '.')}Z`;
}
