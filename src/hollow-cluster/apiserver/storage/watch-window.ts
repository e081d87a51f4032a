/**
 * The recent changes of one resource, from which a watch can start. Its size follows the traffic (upstream
 * `watchCache.resizeCacheLocked`): it doubles while its oldest change is fresh and halves once three quarters of it are
 * stale, so that a burst does not expire the versions of reconnecting watchers.
 */
import type { StoreChange } from './store-change.ts';

const windowEventsMin = 100;
const windowEventsMax = 102_400;
const freshMs = 75_000;

export interface WindowSize {
  readonly eventsMin: number;
  readonly eventsMax: number;
}

export class WatchWindow {
  readonly #size: WindowSize;
  #capacity: number;
  #changes: StoreChange[] = [];
  /** Index of the oldest change still kept: dropping one does not move the others. */
  #head = 0;
  /** Watches may start at this revision or later. */
  #floor: number;

  constructor(floor: number, size: WindowSize = { eventsMin: windowEventsMin, eventsMax: windowEventsMax }) {
    this.#floor = floor;
    this.#size = size;
    this.#capacity = size.eventsMin;
  }

  get floor(): number {
    return this.#floor;
  }

  get length(): number {
    return this.#changes.length - this.#head;
  }

  append(change: StoreChange): void {
    if (this.length >= this.#capacity) this.#resize(change.atMs);
    this.#changes.push(change);
    while (this.length > this.#capacity) this.#dropOldest();
  }

  /** The changes after `revision`, oldest first; undefined if some of them are gone. */
  since(revision: number): readonly StoreChange[] | undefined {
    if (revision < this.#floor) return undefined;
    return this.#changes.slice(this.#firstAfter(revision));
  }

  /** Drops all changes up to `revision`: clients with an older version have to list again. */
  clear(revision: number): void {
    this.#changes = [];
    this.#head = 0;
    this.#floor = revision;
  }

  #resize(nowMs: number): void {
    const oldest = this.#changes[this.#head];
    const newestQuarter = this.#changes[this.#changes.length - Math.max(1, Math.floor(this.#capacity / 4))];
    if (oldest !== undefined && nowMs - oldest.atMs < freshMs) {
      this.#capacity = Math.min(this.#capacity * 2, this.#size.eventsMax);
    } else if (newestQuarter !== undefined && nowMs - newestQuarter.atMs > freshMs) {
      this.#capacity = Math.max(Math.floor(this.#capacity / 2), this.#size.eventsMin);
    }
  }

  #dropOldest(): void {
    this.#head += 1;
    const oldest = this.#changes[this.#head];
    if (oldest !== undefined) this.#floor = oldest.revision - 1;
    // Half of the array is unused: one copy now is cheaper than moving the rest at each drop.
    if (this.#head * 2 > this.#changes.length) {
      this.#changes = this.#changes.slice(this.#head);
      this.#head = 0;
    }
  }

  #firstAfter(revision: number): number {
    let low = this.#head;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
