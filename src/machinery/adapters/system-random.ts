import type { Random } from '../ports/random.ts';

export class SystemRandom implements Random {
  next(): number {
    return Math.random();
  }
}
