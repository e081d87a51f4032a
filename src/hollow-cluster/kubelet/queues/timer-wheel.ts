/** One timer on a wheel, as returned by {@link TimerWheel.add}, for its removal. */
interface WheelTimer {
  readonly dueMs: number;
  readonly wake: () => void;
}

class WheelEntry implements WheelTimer {
  readonly dueMs: number;
  readonly wake: () => void;
  /** The first tick that is not before the due time. */
  readonly tick: number;
  before: WheelEntry | undefined;
  after: WheelEntry | undefined;
  slot: Slot | undefined;

  constructor(dueMs: number, wake: () => void, tick: number) {
    this.dueMs = dueMs;
    this.wake = wake;
    this.tick = tick;
  }
}

/** The timers of one slot, in insertion order. */
interface Slot {
  first: WheelEntry | undefined;
  last: WheelEntry | undefined;
}

/** Number of slots of each ring. A slot of a ring is as long as the whole ring below it. */
const ringSizes = [100, 60, 60] as const;

/**
 * A hierarchical timer wheel with three rings: ticks, rounds of the first ring, and rounds of the second. With ticks of
 * 10 ms a slot is 10 ms, 1 s and 1 min long. Adding and removing take constant time. No timer is early; one may be late by
 * one tick.
 */
export class TimerWheel {
  readonly #tickMs: number;
  readonly #startMs: number;
  readonly #rings: readonly (readonly Slot[])[];
  readonly #due: Slot = { first: undefined, last: undefined };
  #tick = 0;
  #size = 0;

  constructor(tickMs: number, startMs: number) {
    this.#tickMs = tickMs;
    this.#startMs = startMs;
    this.#rings = ringSizes.map((size) => Array.from({ length: size }, () => ({ first: undefined, last: undefined })));
  }

  /** Pending timers, and due timers that were not taken. */
  get size(): number {
    return this.#size;
  }

  add(dueMs: number, wake: () => void): WheelTimer {
    const tick = Math.max(this.#tick + 1, Math.ceil((dueMs - this.#startMs) / this.#tickMs));
    const place = new WheelEntry(dueMs, wake, tick);
    this.#size += 1;
    this.#put(place);
    return place;
  }

  /** No-op if the timer was taken or removed already. */
  remove(timer: WheelTimer): void {
    if (!(timer instanceof WheelEntry) || timer.slot === undefined) return;
    this.#size -= 1;
    unlink(timer);
  }

  /** Advances the wheel to `nowMs`. Timers that are due can then be taken. */
  advance(nowMs: number): void {
    const tick = Math.floor((nowMs - this.#startMs) / this.#tickMs);
    // An empty wheel skips the steps, for example after a suspend.
    if (this.#size === 0) this.#tick = Math.max(this.#tick, tick);
    while (this.#tick < tick) this.#step();
  }

  /** The timer that has been due for the longest time; undefined if none is due. */
  take(): WheelTimer | undefined {
    const place = this.#due.first;
    if (place === undefined) return undefined;
    this.#size -= 1;
    unlink(place);
    return place;
  }

  /** When to poll again: no timer is due before. Undefined if the wheel is empty. */
  nextMs(): number | undefined {
    if (this.#size === 0) return undefined;
    if (this.#due.first !== undefined) return this.#startMs + this.#tick * this.#tickMs;
    return this.#startMs + this.#nextTick() * this.#tickMs;
  }

  /** The next tick whose innermost slot has timers, or at which an outer ring moves timers down. */
  #nextTick(): number {
    const [ticks = []] = this.#rings;
    for (let tick = this.#tick + 1; ; tick += 1) {
      const place = tick % ticks.length;
      if (place === 0 || ticks[place]?.first !== undefined) return tick;
    }
  }

  #step(): void {
    this.#tick += 1;
    let span = 1;
    for (const ring of this.#rings) {
      const slot = ring[Math.floor(this.#tick / span) % ring.length];
      if (slot !== undefined) this.#empty(slot);
      span *= ring.length;
      if (this.#tick % span !== 0) return;
    }
  }

  /** Moves the timers of a slot to an inner ring or to the due list. */
  #empty(slot: Slot): void {
    const { first } = slot;
    slot.first = undefined;
    slot.last = undefined;
    for (let place = first; place !== undefined; ) {
      const { after } = place;
      this.#put(place);
      place = after;
    }
  }

  #put(place: WheelEntry): void {
    append(this.#slotFor(place.tick), place);
  }

  #slotFor(tick: number): Slot {
    if (tick <= this.#tick) return this.#due;
    let span = 1;
    for (const ring of this.#rings) {
      const slots = Math.floor(tick / span) - Math.floor(this.#tick / span);
      const slot = ring[Math.floor(tick / span) % ring.length];
      if (slots < ring.length && slot !== undefined) return slot;
      span *= ring.length;
    }
    return this.#outermost();
  }

  /** Timers beyond the range of the rings go into the last slot and are placed again when it comes up. */
  #outermost(): Slot {
    const ring = this.#rings.at(-1) ?? [];
    const span = ringSizes.slice(0, -1).reduce((product, size) => product * size, 1);
    const slot = ring[(Math.floor(this.#tick / span) + ring.length - 1) % ring.length];
    if (slot === undefined) throw new Error('timer wheel without rings');
    return slot;
  }
}

function append(slot: Slot, place: WheelEntry): void {
  place.slot = slot;
  place.after = undefined;
  place.before = slot.last;
  if (slot.last === undefined) slot.first = place;
  else slot.last.after = place;
  slot.last = place;
}

function unlink(place: WheelEntry): void {
  const { slot, before, after } = place;
  if (slot === undefined) return;
  if (before === undefined) slot.first = after;
  else before.after = after;
  if (after === undefined) slot.last = before;
  else after.before = before;
  place.slot = undefined;
}
