/** Generates names and uids. */
import type { Random } from '../../../machinery/ports/random.ts';

/** Letters and digits that form no words and are not easily confused (upstream `util/rand`). */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
/** Upstream `maxGeneratedNameLength`: 63 less the suffix. */
const generateBaseMax = 58;
/** Maximum number of generated names to try. */
export const generateTriesMax = 8;

export function generateName(base: string, random: Random): string {
  let suffix = '';
  while (suffix.length < suffixLength) suffix += suffixAlphabet[Math.floor(random.next() * suffixAlphabet.length)];
  return base.slice(0, generateBaseMax) + suffix;
}

/** A version 4 UUID: 122 random bits. */
export function makeUid(random: Random): string {
  const digit = (): number => Math.floor(random.next() * 16);
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) =>
    (place === 'x' ? digit() : (digit() & 0x3) | 0x8).toString(16),
  );
}
