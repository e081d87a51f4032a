/** One appointment on a wheel. Whoever keeps it may take it off again. */
export interface WheelTimer {
  readonly dueMs: number;
  readonly wake: () => void;
}

class Place implements WheelTimer {
  readonly dueMs: number;
  readonly wake: () => void;
  /** The first tick that is not before its time. */
  readonly tick: number;
  before: Place | undefined;
  after: Place | undefined;
  slot: Slot | undefined;

  constructor(dueMs: number, wake: () => void, tick: number) {
    this.dueMs = dueMs;
    this.wake = wake;
    this.tick = tick;
  }
}

/** Those of one slot, in the order in which they came. */
interface Slot {
  first: Place | undefined;
  last: Place | undefined;
}

/** How many slots each ring has. A slot of a ring is as long as the whole ring below it. */
const ringSizes = [100, 60, 60] as const;

/**
 * Appointments by time, in rings: of ticks, of whole turns of those, and of whole turns of these. With ticks of 10 ms they
 * are 10 ms, 1 s and 1 min long. Adding and taking off cost the same however many there are. Nothing is early; a thing
 * may be late by one tick.
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

  /** Appointments that have not come yet, and those that came and were not taken. */
  get size(): number {
    return this.#size;
  }

  add(dueMs: number, wake: () => void): WheelTimer {
    const tick = Math.max(this.#tick + 1, Math.ceil((dueMs - this.#startMs) / this.#tickMs));
    const place = new Place(dueMs, wake, tick);
    this.#size += 1;
    this.#put(place);
    return place;
  }

  /** Nothing happens where it was taken already. */
  remove(timer: WheelTimer): void {
    if (!(timer instanceof Place) || timer.slot === undefined) return;
    this.#size -= 1;
    unlink(timer);
  }

  /** Time has come this far. Those that are due by now can be taken. */
  advance(nowMs: number): void {
    const tick = Math.floor((nowMs - this.#startMs) / this.#tickMs);
    // Nothing there: no need to turn through a time that somebody slept away.
    if (this.#size === 0) this.#tick = Math.max(this.#tick, tick);
    while (this.#tick < tick) this.#step();
  }

  /** The one that is due for the longest; undefined when none is. */
  take(): WheelTimer | undefined {
    const place = this.#due.first;
    if (place === undefined) return undefined;
    this.#size -= 1;
    unlink(place);
    return place;
  }

  /** When to look again: nothing is due before. Undefined when there is nothing at all. */
  nextMs(): number | undefined {
    if (this.#size === 0) return undefined;
    if (this.#due.first !== undefined) return this.#startMs + this.#tick * this.#tickMs;
    return this.#startMs + this.#nextTick() * this.#tickMs;
  }

  /** The next tick of the innermost ring that holds something, or the one at which an outer ring hands some down. */
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

  /** Hands what was in a slot down, or over. */
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

  #put(place: Place): void {
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

  /** What is further away than the rings reach comes round with the last slot, and is put again then. */
  #outermost(): Slot {
    const ring = this.#rings.at(-1) ?? [];
    const span = ringSizes.slice(0, -1).reduce((product, size) => product * size, 1);
    const slot = ring[(Math.floor(this.#tick / span) + ring.length - 1) % ring.length];
    if (slot === undefined) throw new Error('a wheel has rings');
    return slot;
  }
}

function append(slot: Slot, place: Place): void {
  place.slot = slot;
  place.after = undefined;
  place.before = slot.last;
  if (slot.last === undefined) slot.first = place;
  else slot.last.after = place;
  slot.last = place;
}

function unlink(place: Place): void {
  const { slot, before, after } = place;
  if (slot === undefined) return;
  if (before === undefined) slot.first = after;
  else before.after = after;
  if (after === undefined) slot.last = before;
  else after.before = before;
  place.slot = undefined;
}
