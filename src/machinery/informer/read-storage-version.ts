import { ApiError } from '../api/api-error.ts';
import type { ResourceName } from '../api/resources.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeReader, Selection } from '../ports/kube-reader.ts';
import { callWithin } from '../supervision/call-within.ts';

/** Time between two attempts to read the version of the server, and the timeout of one: a lost response must not end them. */
const retryMs = 5_000;

/** After this time without an answer the storage may have passed again any version that it went back to. */
const unknownAfterMs = 15_000;

interface ReadVersionOptions {
  readonly api: Pick<KubeReader, 'list'>;
  readonly resource: ResourceName;
  readonly selection: Selection;
  readonly clock: Clock;
}

/**
 * The version of the storage, by a consistent read of one object. Any failure is retried, for {@link unknownAfterMs} at most
 * unless the server refuses to list at all: `unknown`. Undefined when the signal aborts before.
 */
export async function readStorageVersion(
  { api, resource, selection, clock }: ReadVersionOptions,
  signal: AbortSignal,
): Promise<{ readonly version: string } | 'unknown' | undefined> {
  const startedAtMs = clock.monotonicMs();
  while (!signal.aborted) {
    try {
      const read = (signal: AbortSignal): ReturnType<typeof api.list> =>
        api.list(resource, { ...selection, limit: 1, signal });
      const { metadata } = await callWithin({ clock, ms: retryMs, signal }, read);
      return { version: metadata.resourceVersion ?? '' };
    } catch (error) {
      const isLate = clock.monotonicMs() - startedAtMs >= unknownAfterMs;
      if (isLate && !isRefused(error) && !signal.aborted) return 'unknown';
      await clock.sleep(retryMs, signal);
    }
  }
  return undefined;
}

/** A list would be refused too. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && (error.reason === 'forbidden' || error.reason === 'unauthorized');
}
