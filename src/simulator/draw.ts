// Draws from a random source. Each call takes exactly one number, so that a plan changes little when one draw is added.
import type { Random } from '../machinery/ports/random.ts';

export function chance(random: Random, probability: number): boolean {
  return random.next() < probability;
}

export function between(random: Random, min: number, max: number): number {
  return min + (max - min) * random.next();
}

/** Inclusive. */
export function wholeBetween(random: Random, min: number, max: number): number {
  return Math.floor(between(random, min, max + 1));
}

/** Throws a RangeError for an empty list. */
export function oneOf<T>(random: Random, choices: readonly T[]): T {
  const wanted = Math.floor(random.next() * choices.length);
  for (const [index, choice] of choices.entries()) if (index === wanted) return choice;
  throw new RangeError('nothing to choose from');
}
