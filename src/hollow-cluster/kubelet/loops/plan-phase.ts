import type { LeasePhase } from '../profile.ts';

/**
 * A number in [0, 1) that depends only on the name (FNV-1a). Without it, nodes that start together send their
 * heartbeats together: 4 % jitter takes hundreds of periods to spread them.
 */
export function planPhase(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  // Names that differ only in the last digit differ only in the low bits: spread them over the whole word.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/** A period extended by up to `share` of itself (apimachinery `wait.Jitter`). `chance` is uniform in [0, 1). */
export function planJittered(periodMs: number, share: number, chance: number): number {
  return periodMs * (1 + share * chance);
}

/**
 * The fraction of a period between the first heartbeat and the second; undefined for a full period with jitter.
 * `chance` is uniform in [0, 1).
 */
export function planFirstWait(phase: LeasePhase, name: string, chance: () => number): number | undefined {
  switch (phase) {
    case 'hash':
      return planPhase(name);
    case 'random':
      return chance();
    case 'aligned':
      return undefined;
  }
}

/**
 * The first point after `afterMs` of the grid that starts at `startMs` and has a point every `periodMs`. A loop that
 * wakes at a grid point only when it has work behaves like a loop that wakes at each point.
 */
export function planNextTick(startMs: number, periodMs: number, afterMs: number): number {
  return startMs + (Math.floor((afterMs - startMs) / periodMs) + 1) * periodMs;
}
