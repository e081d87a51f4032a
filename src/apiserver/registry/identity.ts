/** Names and uids that the server makes up. */
import type { Random } from '../../ports/random.ts';

/** Letters and digits that cannot form words or be mistaken for each other (upstream `util/rand`). */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
/** Upstream `maxGeneratedNameLength`: 63 less the suffix. */
export const generateBaseMax = 58;
/** Names to try before giving up. */
export const generateTriesMax = 8;

export function generateName(base: string, random: Random): string {
  let suffix = '';
  while (suffix.length < suffixLength) suffix += suffixAlphabet[Math.floor(random.next() * suffixAlphabet.length)];
  return base.slice(0, generateBaseMax) + suffix;
}

/** A version 4 UUID: 122 bits of chance. */
export function makeUid(random: Random): string {
  const digit = (): number => Math.floor(random.next() * 16);
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) =>
    (place === 'x' ? digit() : (digit() & 0x3) | 0x8).toString(16),
  );
}
