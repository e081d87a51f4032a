export interface FreshnessLimits {
  /** Maximum of a gap between two contacts that counts. */
  readonly contactMsMax: number;
  /** Time for which the clock stands still after a longer gap, so that every node can renew its lease once. */
  readonly observeMs: number;
  /** Maximum of the time between two complete lists that counts. */
  readonly listedMsMax: number;
}

/** A monotonic time, and the value of the clock at that time. */
interface Reading {
  readonly atMs: number;
  readonly seenMs: number;
}

/**
 * Counts the time in which a heartbeat would have been received. It advances with contacts with the API server: after
 * each contact it runs for a limited time and then stands still until the next. A stalled process, an unresponsive
 * server and a dead connection have the same effect: the time does not count against any node.
 */
export class FreshClock {
  readonly #limitsNow: () => FreshnessLimits;
  #limits: FreshnessLimits;
  #seenMs: number;
  #contactAtMs: number;
  #observingUntilMs = -Infinity;
  #staleMs = 0;
  #awaitsFirst = false;
  /** The last moment that a complete list showed. */
  #listed: Reading | undefined;
  /** The last contact was that list: it brings nothing after its moment. */
  #contactIsList = false;

  /** The limits are read at each contact: between two contacts they are constant, or time could run backwards. */
  constructor(limits: () => FreshnessLimits, nowMs: number) {
    this.#limitsNow = limits;
    this.#limits = limits();
    this.#seenMs = nowMs;
    this.#contactAtMs = nowMs;
  }

  /** The longest gap that counts, until the next contact: the limits may have been changed since the last one. */
  get contactMsMax(): number {
    return this.#limits.contactMsMax;
  }

  /** Total time in which the clock stood still. */
  staleMs(nowMs: number): number {
    return this.#staleMs + (nowMs - this.#contactAtMs) - this.#seenSinceContact(nowMs);
  }

  /**
   * Starts the checks. The time before counts as neither fresh nor stale; but contact has to be proven first, because
   * caches may be full while their watches are dead.
   */
  begin(nowMs: number): void {
    this.#seenMs = this.nowMs(nowMs);
    this.#contactAtMs = nowMs;
    this.#awaitsFirst = true;
  }

  /** No contact since the start, nor shortly before. */
  awaitsFirstContact(): boolean {
    return this.#awaitsFirst;
  }

  contact(atMs: number): void {
    if (atMs > this.#contactAtMs - this.#limits.contactMsMax) this.#awaitsFirst = false;
    if (atMs <= this.#contactAtMs) return;
    const seenMs = this.#seenSinceContact(atMs);
    if (this.isOutOfContact(atMs)) this.#observeUntil(atMs + this.#limits.observeMs);
    this.#seenMs += seenMs;
    this.#staleMs += atMs - this.#contactAtMs - seenMs;
    this.#contactAtMs = atMs;
    this.#contactIsList = false;
    this.#limits = this.#limitsNow();
  }

  /**
   * The storage may have lost heartbeats that no watch had delivered: the clock stands still, so that every node can renew its lease
   * once. `nowMs` is the current time.
   */
  restored(nowMs: number): void {
    this.#credit(this.#seenSinceContact(nowMs));
    this.#observeUntil(nowMs + this.#limits.observeMs);
  }

  #observeUntil(atMs: number): void {
    this.#observingUntilMs = Math.max(this.#observingUntilMs, atMs);
  }

  /**
   * A complete live list contains everything stored by then: a heartbeat since the previous list would be in it,
   * whatever contact there was in between. But nodes may have been unable to renew for a part of that time, and what a
   * list contains was renewed at some time in it. So the credit is limited to what keeps a renewing node well within
   * its grace period. The first list only starts the counting.
   */
  listed(atMs: number, nowMs: number): void {
    const before = this.#listed;
    if (before !== undefined && atMs <= before.atMs) return;
    const shownNowMs = this.nowMs(nowMs);
    if (atMs > this.#contactAtMs) this.#moveContactToList(atMs);
    const shownMs = before === undefined ? -Infinity : this.#shownBy(atMs, before);
    const sinceMs = this.#contactAtMs - atMs;
    // The clock never ran faster than real time, so it showed at least this much then; and no more than the time until then,
    // of which a list that was read late may have shown a part before.
    const leastMs = this.#seenMs - sinceMs;
    const seenMs = Math.min(Math.max(shownMs, leastMs), leastMs + this.#staleMs);
    this.#credit(seenMs - this.#seenMs);
    // A contact shortly before the list counts until now, although the list brings nothing after its moment.
    this.#credit(shownNowMs - this.nowMs(nowMs));
    this.#listed = { atMs, seenMs };
    this.#awaitsFirst = false;
  }

  #credit(ms: number): void {
    const creditMs = Math.max(0, ms);
    this.#seenMs += creditMs;
    this.#staleMs -= creditMs;
  }

  #moveContactToList(atMs: number): void {
    const seenMs = this.#seenSinceContact(atMs);
    this.#seenMs += seenMs;
    this.#staleMs += atMs - this.#contactAtMs - seenMs;
    this.#contactAtMs = atMs;
    this.#contactIsList = true;
    this.#observingUntilMs = -Infinity;
    this.#limits = this.#limitsNow();
  }

  isOutOfContact(nowMs: number): boolean {
    return nowMs - this.#contactAtMs > this.#limits.contactMsMax;
  }

  isObserving(nowMs: number): boolean {
    return nowMs < this.#observingUntilMs;
  }

  nowMs(nowMs: number): number {
    return this.#seenMs + this.#seenSinceContact(nowMs);
  }

  /** The most that the clock could show if the list that is awaited were credited now: of this moment, or of the last contact. */
  creditableMs(nowMs: number): number {
    const shownMs = this.nowMs(nowMs);
    if (this.#listed === undefined) return shownMs;
    const atContactMs = this.#shownBy(this.#contactAtMs, this.#listed) + this.#seenSinceContact(nowMs);
    return Math.max(shownMs, this.#shownBy(nowMs, this.#listed), atContactMs);
  }

  /** What a list of this moment shows, after the previous one. */
  #shownBy(atMs: number, { atMs: beforeMs, seenMs }: Reading): number {
    return seenMs + Math.min(atMs - beforeMs, this.#limits.listedMsMax);
  }

  lastContactAtMs(): number {
    return this.#contactAtMs;
  }

  #seenSinceContact(nowMs: number): number {
    // Between two lists nothing counts until the second has been read.
    if (this.#contactIsList) return 0;
    const fromMs = Math.max(this.#contactAtMs, this.#observingUntilMs);
    const untilMs = Math.min(nowMs, this.#contactAtMs + this.#limits.contactMsMax);
    return Math.max(0, untilMs - fromMs);
  }
}
