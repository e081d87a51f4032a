import type { Clock } from '../ports/clock.ts';

/** Runs `pass` at once and again `periodMs` after each run ended: runs never overlap. Ends when the signal aborts. */
export async function every(
  periodMs: number,
  clock: Clock,
  signal: AbortSignal,
  pass: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await pass();
    await clock.sleep(periodMs, signal);
  }
}
