import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';

const nanosPerMs = 1_000_000;
const nameLengthMax = 253;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Names of events: `OBJECT.HEX`, the time in nanoseconds in hexadecimal (client-go `recorderImpl.makeEvent`). The clock
 * has a resolution of 1 ms; the digits below are random, so that two processes do not collide. No name is used twice, not
 * even when the wall clock steps back: the API server would reject the second event and it would be lost.
 */
export class EventNames {
  readonly #clock: Clock;
  readonly #random: Random;
  #lastNanos = 0n;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** A name for an event about the named object; a random UUID if the result is not a valid name. */
  next(objectName: string): string {
    const name = `${objectName}.${this.#nextNanos().toString(16)}`;
    return name.length <= nameLengthMax && dnsSubdomain.test(name) ? name : this.#uuid();
  }

  #nextNanos(): bigint {
    const belowMs = BigInt(Math.floor(this.#random.next() * nanosPerMs));
    const nanos = BigInt(Math.floor(this.#clock.nowMs())) * BigInt(nanosPerMs) + belowMs;
    this.#lastNanos = nanos > this.#lastNanos ? nanos : this.#lastNanos + 1n;
    return this.#lastNanos;
  }

  /** UUID version 4, from the injected random source. */
  #uuid(): string {
    return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (digit) => {
      const nibble = Math.floor(this.#random.next() * 16);
      return (digit === 'x' ? nibble : 8 + (nibble % 4)).toString(16);
    });
  }
}
