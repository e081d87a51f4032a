import { type Clock, elapsedMs, instantOf } from '../ports/clock.ts';

const checkEveryMs = 5_000;
/** As long as an unanswered comparison of versions: a storage that was restored may have passed any version by then. */
const suspendedMsMax = 15_000;

/**
 * Yields each time that this process has not run for {@link suspendedMsMax}, until the signal aborts: it was stopped or starved, or its machine
 * was suspended, or the wall clock was set forward by as much. What it received meanwhile it handles as if it came now.
 */
export async function* suspends(clock: Clock, signal: AbortSignal): AsyncGenerator<undefined> {
  for (let before = instantOf(clock); ; ) {
    await clock.sleep(checkEveryMs, signal);
    if (signal.aborted) return;
    const now = instantOf(clock);
    const ranOn = elapsedMs(before, now) <= suspendedMsMax;
    before = now;
    if (!ranOn) yield undefined;
  }
}
