import { SeededRandom } from './fakes.ts';

/** Choices from a seed: the same ones for the same seed. */
export class Draw {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  one<T>(choices: readonly [T, ...T[]]): T {
    return choices[Math.floor(this.#random.next() * choices.length)] ?? choices[0];
  }

  some<T>(choices: readonly T[]): readonly T[] {
    return choices.filter(() => this.one([true, false]));
  }
}
