export interface SightLimits {
  /** A gap between two contacts up to this long is seen time; of a longer one only this much is. */
  readonly contactMsMax: number;
  /** After a longer gap the clock stands still for this long, so that everybody can be heard once. */
  readonly observeMs: number;
}

/**
 * Counts the time in which a heartbeat would have reached us. It is told of every contact with the API server; between
 * contacts it runs on for a moment and then stands still until the next. A stalled process, a frozen server and a dead
 * connection look the same to it: nothing was seen, so nothing is held against anybody.
 */
export class SightClock {
  readonly #limitsNow: () => SightLimits;
  #limits: SightLimits;
  #seenMs: number;
  #contactAtMs: number;
  #observingUntilMs = -Infinity;
  #blindMs = 0;
  #awaitsFirst = false;

  /** The limits are asked for at each contact: between two they stay as they are, or time could run backwards. */
  constructor(limits: () => SightLimits, nowMs: number) {
    this.#limitsNow = limits;
    this.#limits = limits();
    this.#seenMs = nowMs;
    this.#contactAtMs = nowMs;
  }

  /** All the time in which it stood still. */
  blindMs(nowMs: number): number {
    return this.#blindMs + (nowMs - this.#contactAtMs) - this.#seenSinceContact(nowMs);
  }

  /**
   * From here on somebody looks. The time before was not blind, it was nobody's; but that we see must show first: caches
   * may be full and their streams dead.
   */
  begin(nowMs: number): void {
    this.#seenMs = this.nowMs(nowMs);
    this.#contactAtMs = nowMs;
    this.#awaitsFirst = true;
  }

  /** Since it began there has been no contact, nor just before. */
  awaitsFirstContact(): boolean {
    return this.#awaitsFirst;
  }

  contact(atMs: number): void {
    if (atMs > this.#contactAtMs - this.#limits.contactMsMax) this.#awaitsFirst = false;
    if (atMs <= this.#contactAtMs) return;
    const seenMs = this.#seenSinceContact(atMs);
    if (this.isOutOfContact(atMs)) this.#observingUntilMs = atMs + this.#limits.observeMs;
    this.#seenMs += seenMs;
    this.#blindMs += atMs - this.#contactAtMs - seenMs;
    this.#contactAtMs = atMs;
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

  lastContactAtMs(): number {
    return this.#contactAtMs;
  }

  #seenSinceContact(nowMs: number): number {
    const fromMs = Math.max(this.#contactAtMs, this.#observingUntilMs);
    const untilMs = Math.min(nowMs, this.#contactAtMs + this.#limits.contactMsMax);
    return Math.max(0, untilMs - fromMs);
  }
}
