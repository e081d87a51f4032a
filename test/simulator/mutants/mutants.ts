import { furtherDefects } from './further-defects.ts';
import { knownDefects } from './known-defects.ts';
import { meetingDefects } from './meeting-defects.ts';
import type { Mutant } from './mutant.ts';

export const mutants: readonly Mutant[] = [...knownDefects, ...furtherDefects, ...meetingDefects];

/** Throws a RangeError if there is none of this name. */
export function findMutant(name: string): Mutant {
  const found = mutants.find((mutant) => mutant.name === name);
  if (found === undefined) throw new RangeError(`no mutant ${name}`);
  return found;
}
