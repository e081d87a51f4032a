import type { Clock } from '../ports/clock.ts';
import { LinkedAbort } from '../supervision/abort.ts';

export const syncPollMs = 100;

/** An informer to wait for. Without `whenSynced` it is polled every {@link syncPollMs}. */
export interface Syncing {
  readonly name: string;
  hasSynced(): boolean;
  whenSynced?(): Promise<void>;
}

interface WaitOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** No limit when absent. */
  readonly timeoutMs?: number;
}

/**
 * Waits until every informer has synced, the signal aborts or the time is up, whichever comes first. Returns the names of
 * those that have not synced; empty means all have (client-go `WaitForNamedCacheSync`). Never rejects.
 */
export async function waitForCacheSync(
  informers: readonly Syncing[],
  { clock, signal, timeoutMs = Infinity }: WaitOptions,
): Promise<readonly string[]> {
  const end = new LinkedAbort(signal);
  const deadline = clock.sleep(timeoutMs, end.signal);
  const all = Promise.all(informers.map((informer) => untilSynced(informer, clock, end.signal)));
  await Promise.race([all, deadline]);
  end.release();
  end.abort();
  return informers.filter((informer) => !informer.hasSynced()).map((informer) => informer.name);
}

async function untilSynced(informer: Syncing, clock: Clock, signal: AbortSignal): Promise<void> {
  if (informer.hasSynced()) return;
  if (informer.whenSynced !== undefined) return informer.whenSynced();
  while (!informer.hasSynced() && !signal.aborted) await clock.sleep(syncPollMs, signal);
}
