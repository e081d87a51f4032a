import type { Informer, InformerStatus } from '../../machinery/informer/informer.ts';

/**
 * A list that has not been read after this time is requested again: the informer may have been delayed or have just
 * listed. A watch without a frame for so long is replaced by a list too.
 */
const requestAgainMs = 10_000;
/**
 * A watch that is being opened is waited for so long: less than the client waits for an answer (30 s). After that its attempt would count as
 * failed, and the delays of the next ones would keep lists away.
 */
const openingMsMax = 28_000;
/** Watches that are opened in turn keep lists away for no longer: with a list of 30 s the evidence is still recent. */
const waitMsMax = 60_000;
/** A watch that was just opened delivers old events first. Not longer than the time above: one that is waited for has caught up then. */
const catchUpMs = 10_000;
/** Lists older than this are no longer used as evidence. */
export const evidenceMsMax = 90_000;

type Listed = Pick<Informer<unknown>, 'relist'> & { status(): InformerStatus };

interface ListRequest {
  readonly informer: Listed;
  requestedAtMs: number;
  /** The last request left a watch open that had just been opened. */
  waits: boolean;
}

/** `mayRequest`: lists, which close the watches. `isBehind`: an open watch delivers late. */
interface PollOptions {
  readonly mayRequest: boolean;
  readonly isBehind: boolean;
}

/**
 * Complete live lists in place of watches that stay stale: what was renewed between two of them is in the second, so
 * the time between them counts as evidence although no watch delivered it. Where one watch is stale and the other delivers, its frames
 * prove what was stored before them, and it stays open.
 */
export class ListFallback {
  readonly #requests: readonly ListRequest[];
  #evidenceAtMs = -Infinity;
  #active = false;

  constructor(informers: readonly Listed[]) {
    this.#requests = informers.map((informer) => ({ informer, requestedAtMs: -Infinity, waits: false }));
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
   * have been read: everything that the API server had stored by then is in the caches. After the first round no list is requested while a
   * watch is being opened, which it would end, for a bounded time: a watch that is never answered must not keep lists away.
   */
  poll(nowMs: number, { mayRequest, isBehind }: PollOptions): number | undefined {
    const requests = mayRequest && !(this.#active && this.#waitsForWatch(nowMs));
    if (requests) this.#requestMissing(nowMs, isBehind);
    const proven = this.#requests.map((entry) => provenAtMs(entry, isBehind));
    if (!this.#active || proven.includes(undefined)) return undefined;
    this.#evidenceAtMs = Math.min(...proven.map((atMs = -Infinity) => atMs));
    if (requests) for (const entry of this.#requests) request(entry, nowMs, isBehind);
    return this.#evidenceAtMs;
  }

  #waitsForWatch(nowMs: number): boolean {
    const isOpening = this.#requests.some(({ informer }) => isBeingOpened(informer.status(), nowMs));
    return isOpening && this.#requests.every(({ requestedAtMs }) => nowMs - requestedAtMs < waitMsMax);
  }

  #requestMissing(nowMs: number, isBehind: boolean): void {
    for (const entry of this.#requests) {
      const isMissing = provenAtMs(entry, isBehind) === undefined;
      const isLate = isMissing && nowMs - entry.requestedAtMs >= requestAgainMs;
      if (!this.#active || isLate) request(entry, nowMs, isBehind);
    }
    this.#active = true;
  }

  /** The watches are fresh again. */
  end(): void {
    this.#active = false;
    this.#evidenceAtMs = -Infinity;
  }
}

/** A watch that delivers stays open, also one that was just opened, but that only once: one that is closed again and again proves nothing. */
function request(entry: ListRequest, nowMs: number, isBehind: boolean): void {
  const status = entry.informer.status();
  const delivers = !isBehind && isDelivering(status, nowMs);
  const isNew = delivers && !hasCaughtUp(status, nowMs);
  const lists = !delivers || (isNew && entry.waits);
  entry.requestedAtMs = nowMs;
  entry.waits = isNew && !lists;
  if (lists) entry.informer.relist();
}

function isDelivering({ state, stateSinceMs, lastFrameAtMs = -Infinity }: InformerStatus, nowMs: number): boolean {
  return state === 'watching' && stateSinceMs !== undefined && nowMs - lastFrameAtMs < requestAgainMs;
}

/** The time that a frame or a list after the request proves: a list contains what was stored when it was sent, and no more. */
function provenAtMs({ informer, requestedAtMs }: ListRequest, isBehind: boolean): number | undefined {
  const status = informer.status();
  const { lastFrameAtMs = -Infinity, lastListAtMs = -Infinity, lastListSentAtMs } = status;
  if (!isBehind && hasCaughtUp(status, requestedAtMs) && lastFrameAtMs > requestedAtMs) return lastFrameAtMs;
  return lastListAtMs > requestedAtMs ? lastListSentAtMs : undefined;
}

/** The watch was open long enough at this time. */
function hasCaughtUp({ state, stateSinceMs = Infinity }: InformerStatus, atMs: number): boolean {
  return state === 'watching' && stateSinceMs + catchUpMs <= atMs;
}

function isBeingOpened({ state, stateSinceMs = -Infinity }: InformerStatus, nowMs: number): boolean {
  return state === 'opening' && nowMs - stateSinceMs < openingMsMax;
}
