import type { ResourceName } from '../api/resources.ts';
import { isOlder } from '../api/resource-version.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeReader, Selection } from '../ports/kube-reader.ts';

/** Time between two attempts to read the version of the server. */
const retryMs = 5_000;

interface CheckVersionOptions {
  readonly api: Pick<KubeReader, 'list'>;
  readonly resource: ResourceName;
  readonly selection: Selection;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Whether the storage is at an older version than this one, by a consistent read of one object. Retries any failure;
 * false when the signal aborts before the server has answered.
 */
export async function isStorageOlder(
  { api, resource, selection, clock }: CheckVersionOptions,
  version: string,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    try {
      const { metadata } = await api.list(resource, { ...selection, limit: 1, signal });
      return isOlder(metadata.resourceVersion ?? '', version);
    } catch {
      await clock.sleep(retryMs, signal);
    }
  }
  return false;
}
