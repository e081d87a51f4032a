// What is a silence a sign of? One machine that dies takes nobody with it; a zone that loses its power takes most of its
// own; but nodes of several zones that stop talking in the same moment have something in common that is none of them: the
// way to the API server.
import type { OutageReckoning, SilenceOutage } from '../decisions.ts';

/** When nodes fall silent, or will if nothing more is heard of them: by zone, ascending, on health's clock. */
export type FallsByZone = ReadonlyMap<string, readonly number[]>;

export interface Fall {
  readonly zone: string;
  readonly atMs: number;
}

/** A share means little among few (as in the arithmetic of zones). */
const togetherMin = 3;
/** Of those that were heard until then. */
const togetherShareMin = 0.6;
const windowMsMax = 12_000;
/** Whoever is well was heard within this time: a renewal, give or take. */
const heardWithinMs = 15_000;

/**
 * Falls this close are one event. A kubelet is heard every 10 s, so those who stop in the same moment were last heard
 * within that time of each other. Where the grace period leaves less room, whoever is well must not seem about to fall.
 */
export function deriveWindowMs(nodeMonitorGracePeriodMs: number): number {
  const roomMs = Math.max(nodeMonitorGracePeriodMs / 4, nodeMonitorGracePeriodMs - heardWithinMs);
  return Math.min(windowMsMax, roomMs);
}

interface Tally {
  readonly zone: string;
  readonly together: number;
  readonly of: number;
}

/**
 * Names the outage that this fall is part of. Whoever was silent long before does not count; whoever will fall within the
 * window, if nothing is heard of it, counts as fallen already. In a cluster of one zone, zone and cluster are the same,
 * and the more careful name is given.
 */
export function classifyOutage(falls: FallsByZone, { zone, atMs }: Fall, windowMs: number): OutageReckoning {
  const tallies = [...falls].map(([name, times]) => tallyZone(name, times, atMs, windowMs)).filter(({ of }) => of > 0);
  const own = tallies.find((tally) => tally.zone === zone) ?? { zone, together: 1, of: 1 };
  const all = tallies.reduce((sum, { together, of }) => ({ together: sum.together + together, of: sum.of + of }), {
    together: 0,
    of: 0,
  });
  const zonesStruck = tallies.filter((tally) => isStruck(tally)).length;
  const zones = tallies.length;
  const spread = isTogether(all) && isStruck(all) && (zonesStruck > 1 || zones === 1);
  const outage = spread ? 'ControlPlanePathFailure' : ofOneZone(own);
  const { together, of } = outage === 'ControlPlanePathFailure' ? all : own;
  return { outage, zone, together, of, zonesStruck, shareMin: togetherShareMin, zones, windowMs };
}

function ofOneZone(own: Tally): SilenceOutage {
  return isTogether(own) && isStruck(own) ? 'ZoneFailure' : 'NodeFailure';
}

function isTogether({ together }: Pick<Tally, 'together'>): boolean {
  return together >= togetherMin;
}

function isStruck({ together, of }: Pick<Tally, 'together' | 'of'>): boolean {
  return together >= of * togetherShareMin;
}

function tallyZone(zone: string, times: readonly number[], atMs: number, windowMs: number): Tally {
  const before = countBelow(times, atMs - windowMs);
  const upTo = countBelow(times, atMs + windowMs + 1);
  return { zone, together: upTo - before, of: times.length - before };
}

/** How many of these ascending times are below `limitMs`. */
function countBelow(times: readonly number[], limitMs: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? Infinity) < limitMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
