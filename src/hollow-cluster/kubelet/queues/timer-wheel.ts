import { KeyedHeap } from '../../../machinery/queueing/keyed-heap.ts';

/** One timer on a wheel, as returned by {@link TimerWheel.add}, for its removal. */
interface WheelTimer {
  readonly dueMs: number;
  readonly wake: () => void;
  /** The first tick that is not before the due time. */
  readonly tick: number;
}

/**
 * Timers in slots of one tick: the order of time is kept between the slots that have timers, not between the timers, which
 * are far more. No timer is early; one may be late by one tick.
 */
export class TimerWheel {
  readonly #tickMs: number;
  readonly #startMs: number;
  /** The timers of each tick that has any, in insertion order. */
  readonly #slots = new Map<number, Set<WheelTimer>>();
  readonly #ticks = new KeyedHeap();
  /** Timers up to this tick were taken, or are being taken. */
  #tick = 0;
  #size = 0;

  constructor(tickMs: number, startMs: number) {
    this.#tickMs = tickMs;
    this.#startMs = startMs;
  }

  /** Pending timers, and due timers that were not taken. */
  get size(): number {
    return this.#size;
  }

  add(dueMs: number, wake: () => void): WheelTimer {
    const tick = Math.max(this.#tick + 1, Math.ceil((dueMs - this.#startMs) / this.#tickMs));
    const slot = this.#slots.get(tick) ?? new Set();
    const timer = { dueMs, wake, tick };
    this.#slots.set(tick, slot.add(timer));
    this.#ticks.set(String(tick), tick);
    this.#size += 1;
    return timer;
  }

  /** No-op if the timer was taken or removed already. */
  remove(timer: WheelTimer): void {
    const slot = this.#slots.get(timer.tick);
    if (slot?.delete(timer) !== true) return;
    this.#size -= 1;
    if (slot.size > 0) return;
    this.#slots.delete(timer.tick);
    this.#ticks.remove(String(timer.tick));
  }

  /** Takes the timers that are due at `nowMs`, tick by tick. A caller that stops early leaves the others due. */
  *takeDue(nowMs: number): Generator<WheelTimer> {
    this.#tick = Math.max(this.#tick, Math.floor((nowMs - this.#startMs) / this.#tickMs));
    for (let first = this.#ticks.peek(); first !== undefined; first = this.#ticks.peek()) {
      if (first.dueMs > this.#tick) return;
      for (const timer of this.#slots.get(first.dueMs) ?? []) {
        this.remove(timer);
        yield timer;
      }
    }
  }

  /** No timer is due before. Undefined if the wheel is empty. */
  nextMs(): number | undefined {
    const first = this.#ticks.peek();
    return first === undefined ? undefined : this.#startMs + first.dueMs * this.#tickMs;
  }
}
