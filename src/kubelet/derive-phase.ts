import type { LeasePhase } from './profile.ts';

/**
 * A share in [0, 1) that belongs to a name for good (FNV-1a). Nodes that start together would otherwise heartbeat
 * together: four per cent of jitter needs hundreds of periods to pull them apart.
 */
export function derivePhase(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  // Names that differ in the last digit only differ in the low bits: spread them over the whole word.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/** A period stretched by up to `share` of itself (apimachinery `wait.Jitter`). `chance` is uniform in [0, 1). */
export function deriveJittered(periodMs: number, share: number, chance: number): number {
  return periodMs * (1 + share * chance);
}

/**
 * The share of a period that passes between the first heartbeat and the second; undefined where it is a whole one, with
 * its jitter. `chance` is uniform in [0, 1).
 */
export function deriveFirstWait(phase: LeasePhase, name: string, chance: () => number): number | undefined {
  switch (phase) {
    case 'hash':
      return derivePhase(name);
    case 'random':
      return chance();
    case 'aligned':
      return undefined;
  }
}
