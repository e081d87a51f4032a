import { type ApiReason, apiReason } from '../api/api-error.ts';
import type { KubeObject } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeReader, ListOptions, Selection, UndecodableObject } from '../ports/kube-reader.ts';
import { callWithin } from '../supervision/call-within.ts';

const pageObjects = 500;

interface ReadPagesOptions {
  readonly api: KubeReader;
  readonly resource: ResourceName;
  readonly selection: Selection;
  readonly signal: AbortSignal;
  readonly paged: boolean;
  /** Called for each object: page by page, or object by object as they arrive if the list is not paged. */
  readonly take: (item: KubeObject) => void;
  /** Called for each object that could not be decoded, after those of its page that could. */
  readonly skip: (item: UndecodableObject) => void;
  /** Called for each page. */
  readonly onPage: () => void;
}

/**
 * Reads one complete state, page by page, at the server's most recent version, and returns its version. Rejects with an
 * ApiError; the pages before it have been taken by then.
 */
export async function readPages(options: ReadPagesOptions): Promise<string> {
  const { api, resource, selection, signal, paged, take, skip, onPage } = options;
  const first: ListOptions = { ...selection, ...(paged ? { limit: pageObjects } : {}) };
  // The transport retries an interrupted page; it cannot do so for objects taken one by one.
  const streaming = paged ? {} : { each: take };
  for (let next = first; ; ) {
    const page = await api.list(resource, { ...next, ...streaming, signal });
    onPage();
    for (const item of page.items) take(item);
    for (const item of page.undecodable ?? []) skip(item);
    const token = page.metadata.continue ?? '';
    if (token === '') return page.metadata.resourceVersion ?? '';
    next = { ...first, continue: token };
  }
}

/** No limit before the first object of an initial state and after its end: other limits apply there. */
const noLimit = Infinity;

/** Maximum time since the last new object of the initial state; then the next object, or the end, is overdue. */
export const initialQuietMsMax = 30_000;
/**
 * Maximum time of an initial state, and the additional time for each of its objects: where objects are created all the
 * time, new ones keep arriving although the bookmark that ends the state may never come.
 */
export const initialMsMax = 60_000;
export const initialMsPerObject = 2;

export interface InitialLimits {
  /** Since the last new object, in milliseconds. */
  readonly quietMsMax: number;
  /** Since the first object, in milliseconds. */
  readonly ageMsMax: number;
}

/**
 * Time limits of a streaming list. `initialCount`: number of objects received, undefined after its end. A server may stream
 * changes without limit and never send the bookmark that ends the initial state.
 */
export function planInitialLimits(initialCount: number | undefined): InitialLimits {
  if (initialCount === undefined || initialCount === 0) return { quietMsMax: noLimit, ageMsMax: noLimit };
  return { quietMsMax: initialQuietMsMax, ageMsMax: initialMsMax + initialMsPerObject * initialCount };
}

/** Time between two attempts to read the version of the server, and the timeout of one: a lost response must not end them. */
const retryMs = 5_000;

/** After this time without an answer the storage may have passed again any version that it went back to. */
const unknownAfterMs = 15_000;

/**
 * A server that rejects lists as too many is asked for so long: the list of a complete state would be rejected too, and end a
 * watch that delivers. kube-apiserver 1.37 answers so while its watch cache is behind etcd.
 */
const busyMsMax = 300_000;

/** After a list was rejected as too many the watch has so long before the next one, also where the version can be read. */
export const listRefusedMs = 150_000;

/** What a server that works rejects a list with. */
const answers: ReadonlySet<string> = new Set<ApiReason>(['too-many-requests', 'forbidden', 'unauthorized']);

interface ReadVersionOptions {
  readonly api: Pick<KubeReader, 'list'>;
  readonly resource: ResourceName;
  readonly selection: Selection;
  readonly clock: Clock;
  /** Since when the version has been unknown, on the monotonic clock; absent: since now. */
  readonly unknownSinceMs?: number | undefined;
  /** When a complete list was last rejected as too many: the time until the next one counts from there. */
  readonly listRefusedAtMs: number;
}

/** A version of the storage, and when the read that shows it was sent, on the monotonic clock. */
export interface ShownVersion {
  readonly version: string;
  readonly sentAtMs: number;
}

interface ReadVersion extends ShownVersion {
  /** Not read within {@link unknownAfterMs}: a version that is not older proves nothing. */
  readonly isLate: boolean;
}

/**
 * The version of the storage, by a consistent read of one object. A failure is no evidence and is retried: `unknown` after
 * {@link unknownAfterMs} without any answer, or after {@link busyMsMax} in which lists were rejected as too many, counted again after
 * a complete list was. Without permission it is asked on: a list would be refused too. Undefined when the signal aborts before.
 */
export async function readStorageVersion(
  { api, resource, selection, clock, listRefusedAtMs, unknownSinceMs = clock.monotonicMs() }: ReadVersionOptions,
  signal: AbortSignal,
): Promise<ReadVersion | 'unknown' | undefined> {
  const unknownForMs = (): number => clock.monotonicMs() - unknownSinceMs;
  let answeredAtMs = clock.monotonicMs();
  const isOver = (reason = ''): boolean => {
    if (answers.has(reason)) answeredAtMs = clock.monotonicMs();
    const busyForMs = Math.min(unknownForMs(), clock.monotonicMs() - listRefusedAtMs);
    const isBusyTooLong = reason === 'too-many-requests' && busyForMs >= busyMsMax;
    return isBusyTooLong || clock.monotonicMs() - answeredAtMs >= unknownAfterMs;
  };
  while (!signal.aborted) {
    const sentAtMs = clock.monotonicMs();
    try {
      const read = (signal: AbortSignal): ReturnType<typeof api.list> =>
        api.list(resource, { ...selection, limit: 1, waitMsMax: 0, signal });
      const { metadata } = await callWithin({ clock, ms: retryMs, signal }, read);
      return { version: metadata.resourceVersion ?? '', sentAtMs, isLate: unknownForMs() >= unknownAfterMs };
    } catch (error) {
      if (isOver(apiReason(error)) && !signal.aborted) return 'unknown';
      await clock.sleep(retryMs, signal);
    }
  }
  return undefined;
}
