import type { ResourceName } from '../api/resources.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeReader, Selection } from '../ports/kube-reader.ts';
import { callWithin } from '../supervision/call-within.ts';

/** Time between two attempts to read the version of the server, and the timeout of one: a lost response must not end them. */
const retryMs = 5_000;

interface ReadVersionOptions {
  readonly api: Pick<KubeReader, 'list'>;
  readonly resource: ResourceName;
  readonly selection: Selection;
  readonly clock: Clock;
}

/**
 * The version of the storage, by a consistent read of one object. Retries any failure; undefined when the signal aborts
 * before the server has answered.
 */
export async function readStorageVersion(
  { api, resource, selection, clock }: ReadVersionOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    try {
      const read = (signal: AbortSignal): ReturnType<typeof api.list> =>
        api.list(resource, { ...selection, limit: 1, signal });
      const { metadata } = await callWithin({ clock, ms: retryMs, signal }, read);
      return metadata.resourceVersion ?? '';
    } catch {
      await clock.sleep(retryMs, signal);
    }
  }
  return undefined;
}
