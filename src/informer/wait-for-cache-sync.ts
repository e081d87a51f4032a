import type { Clock } from '../ports/clock.ts';

export const syncPollMs = 100;

/** What can be waited for. One that cannot say when it has synced is asked every {@link syncPollMs}. */
export interface Syncing {
  readonly name: string;
  hasSynced(): boolean;
  whenSynced?(): Promise<void>;
}

export interface WaitOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** For ever when absent. */
  readonly timeoutMs?: number;
}

/**
 * Waits until every informer has a complete state, the signal aborts or the time is up, whichever comes first. Returns
 * the names of those that are still without; empty means all is well (client-go `WaitForNamedCacheSync`). Never rejects.
 */
export async function waitForCacheSync(
  informers: readonly Syncing[],
  { clock, signal, timeoutMs = Infinity }: WaitOptions,
): Promise<readonly string[]> {
  const end = new AbortController();
  const stop = (): void => end.abort();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  const over = clock.sleep(timeoutMs, end.signal);
  const all = Promise.all(informers.map((informer) => untilSynced(informer, clock, end.signal)));
  await Promise.race([all, over]);
  signal.removeEventListener('abort', stop);
  stop();
  return informers.filter((informer) => !informer.hasSynced()).map((informer) => informer.name);
}

async function untilSynced(informer: Syncing, clock: Clock, signal: AbortSignal): Promise<void> {
  if (informer.hasSynced()) return;
  if (informer.whenSynced !== undefined) return informer.whenSynced();
  while (!informer.hasSynced() && !signal.aborted) await clock.sleep(syncPollMs, signal);
}
