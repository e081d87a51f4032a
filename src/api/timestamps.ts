/** RFC 3339 text to and from milliseconds. Pure: nobody here asks what time it is. */

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
/** Years that have four digits: others cannot be written back. */
const msLimits = { min: Date.parse('0000-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59.999Z') } as const;

/**
 * Milliseconds since the epoch, or undefined where the text is missing or not an RFC 3339 time. Sub-millisecond digits
 * are cut off.
 */
export function parseTimestamp(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const plain = parsePlain(text);
  if (plain !== undefined) return plain;
  if (!rfc3339.test(text)) return undefined;
  const ms = Date.parse(text);
  return ms >= msLimits.min && ms <= msLimits.max ? ms : undefined;
}

const secondChars = '2026-11-21T06:42:20Z'.length;
const microChars = '2026-11-21T06:42:20.123456Z'.length;
/** Every month has that many. */
const plainDayMax = 28;

/**
 * What API servers write, with six digits behind the second or none, at a fraction of the cost; undefined for what takes
 * a closer look.
 */
function parsePlain(text: string): number | undefined {
  const micro = text.length === microChars;
  if (!(micro || text.length === secondChars) || !hasMarks(text, micro)) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  if (!isPlainDate(year, month, day) || !(hour <= 23 && minute <= 59 && second <= 59)) return undefined;
  const micros = micro ? digits(text, 20, 26) : 0;
  if (Number.isNaN(micros)) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second, Math.floor(micros / 1_000));
}

/** Of years below 100 Date.UTC makes others. */
function isPlainDate(year: number, month: number, day: number): boolean {
  return year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= plainDayMax;
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

function isAt(text: string, place: number, mark: string): boolean {
  return text.charCodeAt(place) === mark.charCodeAt(0);
}

/** NaN where one of them is none. */
function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    value = digit >= 0 && digit <= 9 ? value * 10 + digit : Number.NaN;
  }
  return value;
}

/** `metav1.Time`: UTC, whole seconds, as in `2026-11-21T06:42:20Z`. Fractions are cut off, as the API server does. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** `metav1.MicroTime`: exactly six digits. A real API server answers 400 to three (kubernetes#89156). */
export function formatMicroTime(ms: number): string {
  const whole = Math.floor(ms);
  const micros = Math.floor((ms - whole) * 1_000);
  return `${new Date(whole).toISOString().slice(0, 23)}${String(micros).padStart(3, '0')}Z`;
}

/** Go's `RFC3339Nano`: as many digits behind the second as it takes, none where it is a whole one. */
export function formatNanoTime(ms: number): string {
  return formatMicroTime(ms).replace(/\.?0*Z$/, 'Z');
}
