// Classifies why nodes are silent. A machine fails alone; a zone that loses power loses most of its nodes; but nodes of
// several zones that stop renewing at the same time have one thing in common: the path to the API server.
import type { ControlPlaneEvidence, OutageArithmetic, SilenceOutageClass } from '../model/decisions.ts';

/** When nodes became silent, or would without a further heartbeat: ascending, on the health clock. */
export interface Silences {
  readonly byZone: ReadonlyMap<string, readonly number[]>;
  /** Times of the control-plane nodes among them. */
  readonly controlPlane: readonly number[];
}

export interface Silence {
  readonly zone: string;
  readonly atMs: number;
}

/** Below this number a share is not significant (as for zones). */
const togetherMin = 3;
/** Share of the nodes that had renewed until then. */
const togetherShareMin = 0.6;
/**
 * A healthy node has renewed within this time: kubelets renew 10 to 10.4 s after the answer to the last renewal, and
 * one that misses a renewal sends the next one 20 s after the last.
 */
const renewedWithinMs = 12_000;

/**
 * Silences this close belong together: nodes that stop at the same moment renewed last within that time of each other.
 * A shorter grace period shortens the window, so that a healthy node is not counted as about to become silent.
 */
export function silenceWindowMs(nodeMonitorGracePeriodMs: number): number {
  const roomMs = Math.max(nodeMonitorGracePeriodMs / 4, nodeMonitorGracePeriodMs - renewedWithinMs);
  return Math.min(renewedWithinMs, roomMs);
}

interface Tally {
  readonly together: number;
  readonly of: number;
}

/**
 * Classifies the outage that this silence is part of. A node that was silent long before does not count; one that will
 * become silent within the window, without a further heartbeat, counts already. In a cluster of one zone, zone and
 * cluster are the same: the class is ControlPlanePathFailure, and the control-plane nodes decide how long it may hold.
 */
export function classifyOutage(silences: Silences, { zone, atMs }: Silence, windowMs: number): OutageArithmetic {
  const zoneTallies = [...silences.byZone]
    .map(([name, times]) => ({ name, ...tally(times, atMs, windowMs) }))
    .filter(({ of }) => of > 0);
  const own = zoneTallies.find(({ name }) => name === zone) ?? { together: 1, of: 1 };
  const all = zoneTallies.reduce((sum, { together, of }) => ({ together: sum.together + together, of: sum.of + of }), {
    together: 0,
    of: 0,
  });
  const zonesStruck = zoneTallies.filter((counts) => isStruck(counts)).length;
  const zones = zoneTallies.length;
  const spread = isTogether(all) && isStruck(all) && (zonesStruck > 1 || zones === 1);
  const outage = spread ? 'ControlPlanePathFailure' : ofOneZone(own);
  const { together, of } = outage === 'ControlPlanePathFailure' ? all : own;
  const controlPlane = weighControlPlane(tally(silences.controlPlane, atMs, windowMs));
  return { outage, zone, together, of, zonesStruck, shareMin: togetherShareMin, zones, windowMs, controlPlane };
}

function weighControlPlane({ together, of }: Tally): OutageArithmetic['controlPlane'] {
  return { together, of, evidence: evidenceOf({ together, of }) };
}

/**
 * API servers run on these nodes, and one of them answers: if all of these nodes are silent, their machines are not
 * down.
 */
function evidenceOf({ together, of }: Tally): ControlPlaneEvidence {
  if (of === 0) return 'none';
  if (together === 0) return 'renewing';
  return together === of ? 'silent' : 'partly-silent';
}

function ofOneZone(own: Tally): SilenceOutageClass {
  return isTogether(own) && isStruck(own) ? 'ZoneFailure' : 'NodeFailure';
}

function isTogether({ together }: Tally): boolean {
  return together >= togetherMin;
}

function isStruck({ together, of }: Tally): boolean {
  return together >= of * togetherShareMin;
}

function tally(times: readonly number[], atMs: number, windowMs: number): Tally {
  const before = countBelow(times, atMs - windowMs);
  const upTo = countBelow(times, atMs + windowMs + 1);
  return { together: upTo - before, of: times.length - before };
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
