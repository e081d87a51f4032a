import { formatTime, parseTimestamp } from '../../machinery/api/timestamps.ts';

const toleranceMsMin = 2_000;
const toleranceShare = 0.05;

/**
 * An expected wall time as text. The text stays the same while the time moves by less than 2 s, or by less than a twentieth of
 * what is left until it: otherwise every node of a queue would change with each node that is served a little early or late.
 */
export function steadyTime(previous: string | null | undefined, atMs: number, nowMs: number): string {
  const previousMs = parseTimestamp(previous);
  const toleranceMs = Math.max(toleranceMsMin, (atMs - nowMs) * toleranceShare);
  if (typeof previous === 'string' && previousMs !== undefined && Math.abs(previousMs - atMs) < toleranceMs)
    return previous;
  return formatTime(atMs);
}
