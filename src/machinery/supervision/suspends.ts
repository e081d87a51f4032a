import { type Clock, elapsedMs, instantOf } from '../ports/clock.ts';

const checkEveryMs = 5_000;
/** As long as an unanswered comparison of versions: a storage that was restored may have passed any version by then. */
const suspendedMsMax = 15_000;

/** A wall clock that is set forward again and again must not cause one list of everything after the other. */
const yieldEveryMs = 60_000;

/**
 * Yields each time that this process has not run for {@link suspendedMsMax}, or for 5 s less just before a check, until the signal aborts: it was
 * stopped or starved, or its machine was suspended, or the wall clock was set forward by as much. What it received meanwhile it handles as if it
 * came now. At most once a minute: one that comes sooner is yielded then.
 */
export async function* suspends(clock: Clock, signal: AbortSignal): AsyncGenerator<undefined> {
  let yieldedAtMs = -Infinity;
  let isDue = false;
  for (let before = instantOf(clock); ; ) {
    await clock.sleep(checkEveryMs, signal);
    if (signal.aborted) return;
    const now = instantOf(clock);
    isDue ||= elapsedMs(before, now) > suspendedMsMax;
    before = now;
    if (!isDue || now.monotonicMs - yieldedAtMs < yieldEveryMs) continue;
    isDue = false;
    yieldedAtMs = now.monotonicMs;
    yield undefined;
  }
}
