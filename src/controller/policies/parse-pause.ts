import { parseTimestamp } from '../../machinery/api/timestamps.ts';

/** The meaning of the pause annotation. `untilMs`: wall time; Infinity: no end. */
type Pause =
  | { readonly kind: 'none' }
  | { readonly kind: 'paused'; readonly untilMs: number }
  | { readonly kind: 'malformed' };

/**
 * `"true"`: without an end; an RFC 3339 time: until then; `"false"` or empty: no pause. Any other value was meant to
 * pause the node, so it counts as malformed and not as no pause.
 */
export function parsePause(value: string | undefined): Pause {
  if (value === undefined || value === '' || value === 'false') return { kind: 'none' };
  if (value === 'true') return { kind: 'paused', untilMs: Infinity };
  const untilMs = parseTimestamp(value);
  return untilMs === undefined ? { kind: 'malformed' } : { kind: 'paused', untilMs };
}
