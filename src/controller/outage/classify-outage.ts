// Classifies why nodes are silent. A machine fails alone; a zone that loses power loses most of its nodes; but nodes of
// several zones that stop renewing at the same time have one thing in common: the path to the API server.
import type { ControlPlaneEvidence, OutageArithmetic, SilenceOutageClass } from '../model/decisions.ts';

/** Last heartbeats of the counted nodes, on the health clock. */
export interface Heartbeats {
  readonly byZone: ReadonlyMap<string, HeartbeatTimes>;
  /** Those of the control-plane nodes among them. */
  readonly controlPlane: HeartbeatTimes;
}

/** Each ascending. Infinity: the node renews. */
export interface HeartbeatTimes {
  readonly atMs: readonly number[];
  /** When the next heartbeat would have been there at the latest. */
  readonly nextByMs: readonly number[];
}

/** The last heartbeat of a node that is silent. */
export interface LastHeartbeat {
  readonly zone: string;
  readonly heartbeatAtMs: number;
  /** The node would have sent the next one within this time: it stopped in between. */
  readonly windowMs: number;
}

/** Below this number a share is not significant (as for zones). */
const togetherMin = 3;
/** Share of the nodes that had renewed until then. */
const togetherShareMin = 0.6;
interface Tally {
  readonly together: number;
  readonly of: number;
}

/** Whether nodes with these last heartbeats may have failed at the same moment: each before its next one was due. */
export function failedTogether(a: Omit<LastHeartbeat, 'zone'>, b: Omit<LastHeartbeat, 'zone'>): boolean {
  return a.heartbeatAtMs <= b.heartbeatAtMs + b.windowMs && b.heartbeatAtMs <= a.heartbeatAtMs + a.windowMs;
}

/**
 * Classifies the outage of which the silence of this node is part. Nodes that may have failed together count as one, however long
 * their grace periods and intervals are; one that stopped before does not count. In a cluster of one zone, zone and cluster are
 * the same: the class is ControlPlanePathFailure, and the control-plane nodes decide how long it may hold.
 */
export function classifyOutage(heartbeats: Heartbeats, last: LastHeartbeat): OutageArithmetic {
  const { zone, windowMs } = last;
  const zoneTallies = [...heartbeats.byZone]
    .map(([name, times]) => ({ name, ...tally(times, last) }))
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
  const controlPlane = weighControlPlane(tally(heartbeats.controlPlane, last));
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

function tally({ atMs, nextByMs }: HeartbeatTimes, { heartbeatAtMs, windowMs }: LastHeartbeat): Tally {
  const before = countBelow(nextByMs, heartbeatAtMs);
  const upTo = countBelow(atMs, heartbeatAtMs + windowMs + 1);
  return { together: upTo - before, of: atMs.length - before };
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
