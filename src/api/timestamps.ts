/** RFC 3339 text to and from milliseconds. Pure: nobody here asks what time it is. */

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
/** Years that have four digits: others cannot be written back. */
const msLimits = { min: Date.parse('0000-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59.999Z') } as const;

/**
 * Milliseconds since the epoch, or undefined where the text is missing or not an RFC 3339 time. Sub-millisecond digits
 * are cut off.
 */
export function parseTimestamp(text: unknown): number | undefined {
  if (typeof text !== 'string' || !rfc3339.test(text)) return undefined;
  const ms = Date.parse(text);
  return ms >= msLimits.min && ms <= msLimits.max ? ms : undefined;
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
