import type { Clock } from '../../machinery/ports/clock.ts';
import { callWithin } from '../../machinery/supervision/call-within.ts';

/** A write that hangs does not hold up the others of its object for longer. */
const turnMsMax = 5_000;

interface WriteTurnsOptions {
  readonly clock: Clock;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
}

/** Runs work in a slot of a lane. */
type InSlot = <T>(work: () => Promise<T>) => Promise<T>;

const atOnce: InSlot = (work) => work();
/** The slot was given back: another write of the object is in flight. */
const busy = Symbol('busy');

/**
 * One write of an object in flight at a time. Most have its resourceVersion as a precondition, so of two at once the API server
 * refuses one; and the answer to the first shows whether the second is still needed. One that waits for its turn occupies no slot,
 * and one that waits for a slot holds up no other.
 */
export class WriteTurns {
  readonly #options: WriteTurnsOptions;
  readonly #inFlight = new Map<string, Promise<unknown>>();
  readonly #all = new Set<Promise<unknown>>();

  constructor(options: WriteTurnsOptions) {
    this.#options = options;
  }

  /** Settles as the write does. It begins when no other of this object is in flight, or after 5 s in the next slot. */
  async run<T>(object: string, write: () => Promise<T>, inSlot: InSlot = atOnce): Promise<T> {
    const own = this.#run(object, write, inSlot);
    this.#all.add(own);
    try {
      return await own;
    } finally {
      this.#all.delete(own);
    }
  }

  async #run<T>(object: string, write: () => Promise<T>, inSlot: InSlot): Promise<T> {
    const { clock, signal } = this.#options;
    const untilMs = clock.monotonicMs() + turnMsMax;
    const mustWait = (): boolean => !signal.aborted && this.#inFlight.has(object) && clock.monotonicMs() < untilMs;
    for (;;) {
      if (mustWait()) await this.#after(object, untilMs - clock.monotonicMs());
      const done = await inSlot(async () => (mustWait() ? busy : this.#fly(object, write)));
      if (done !== busy) return done;
    }
  }

  async #fly<T>(object: string, write: () => Promise<T>): Promise<T> {
    const own = write();
    this.#inFlight.set(object, own);
    try {
      return await own;
    } finally {
      if (this.#inFlight.get(object) === own) this.#inFlight.delete(object);
    }
  }

  /** Resolves when no write waits for its turn or is in flight. */
  async drained(): Promise<void> {
    while (this.#all.size > 0) await Promise.allSettled(this.#all);
  }

  async #after(object: string, ms: number): Promise<void> {
    const before = async (): Promise<unknown> => this.#inFlight.get(object);
    await callWithin({ ...this.#options, ms }, before).catch(() => undefined);
  }
}
