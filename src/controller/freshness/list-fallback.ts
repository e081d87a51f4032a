import type { Informer, InformerStatus } from '../../machinery/informer/informer.ts';

/**
 * A list that has not been read after this time is requested again: the informer may have been delayed or have just
 * listed.
 */
const requestAgainMs = 10_000;
/**
 * A watch that is being opened is waited for so long: less than the client waits for an answer (30 s). After that its attempt would count as
 * failed, and the delays of the next ones would keep lists away.
 */
const openingMsMax = 28_000;
/** Lists older than this are no longer used as evidence. */
export const evidenceMsMax = 90_000;

type Listed = Pick<Informer<unknown>, 'relist'> & { status(): InformerStatus };

interface ListRequest {
  readonly informer: Listed;
  requestedAtMs: number;
}

/**
 * Complete live lists in place of watches that stay stale: what was renewed between two of them is in the second, so
 * the time between them counts as evidence although no watch delivered it.
 */
export class ListFallback {
  readonly #requests: readonly ListRequest[];
  #evidenceAtMs = -Infinity;
  #active = false;

  constructor(informers: readonly Listed[]) {
    this.#requests = informers.map((informer) => ({ informer, requestedAtMs: -Infinity }));
  }

  /** Lists are being read in place of watches. */
  get active(): boolean {
    return this.#active;
  }

  /** Lists are used as evidence now, and the last round of them is recent. */
  isFresh(nowMs: number): boolean {
    return this.#active && nowMs - this.#evidenceAtMs <= evidenceMsMax;
  }

  /**
   * To be called often while the watches are stale. Returns the time that a round of lists proves, once all of them
   * have been read: everything that the API server had stored by then is in the caches. Without `mayRequest` no list is
   * requested, because it would close the watches. Nor is one after the first while a watch is being opened, which it would end, for
   * a bounded time: a watch that is never answered must not keep lists away.
   */
  poll(nowMs: number, mayRequest: boolean): number | undefined {
    const requests = mayRequest && !(this.#active && this.#waitsForWatch(nowMs));
    if (requests) this.#requestMissing(nowMs);
    if (!this.#active || !this.#requests.every(isRead)) return undefined;
    this.#evidenceAtMs = Math.min(...this.#requests.map(({ requestedAtMs }) => requestedAtMs));
    if (requests) for (const entry of this.#requests) request(entry, nowMs);
    return this.#evidenceAtMs;
  }

  #waitsForWatch(nowMs: number): boolean {
    const isOpening = this.#requests.some(({ informer }) => informer.status().state === 'opening');
    return isOpening && this.#requests.every(({ requestedAtMs }) => nowMs - requestedAtMs < openingMsMax);
  }

  #requestMissing(nowMs: number): void {
    for (const entry of this.#requests) {
      const isLate = !isRead(entry) && nowMs - entry.requestedAtMs >= requestAgainMs;
      if (!this.#active || isLate) request(entry, nowMs);
    }
    this.#active = true;
  }

  /** The watches are fresh again. */
  end(): void {
    this.#active = false;
    this.#evidenceAtMs = -Infinity;
  }
}

function request(entry: ListRequest, nowMs: number): void {
  entry.requestedAtMs = nowMs;
  entry.informer.relist();
}

function isRead({ informer, requestedAtMs }: ListRequest): boolean {
  return (informer.status().lastListAtMs ?? -Infinity) > requestedAtMs;
}
