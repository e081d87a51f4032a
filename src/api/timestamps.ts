/** RFC 3339 text to and from milliseconds. Pure: nobody here asks what time it is. */

/**
 * Milliseconds since the epoch, or undefined where the text is missing or not a time. Sub-millisecond digits are cut off.
 */
export function parseTimestamp(text: unknown): number | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
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
