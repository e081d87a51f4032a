// Classifies why nodes are silent. A machine fails alone; a zone that loses power loses most of its nodes; but nodes of
// several zones that stop renewing at the same time have one thing in common: the path to the API server.
import type { ControlPlaneEvidence, OutageArithmetic, SilenceOutageClass } from '../model/decisions.ts';
import { countBelow, type Heartbeats, type HeartbeatTimes } from './build-heartbeats.ts';
import { StruckZones, struckShareMin } from './classify-zones.ts';

/** The last heartbeat of a node that is silent. */
export interface LastHeartbeat {
  readonly zone: string;
  readonly heartbeatAtMs: number;
  /** The node would have sent the next one within this time: it stopped in between. */
  readonly windowMs: number;
}

/** Below this number a share is not significant (as for zones). */
const togetherMin = 3;

interface Tally {
  readonly together: number;
  readonly of: number;
}

/** Whether nodes with these last heartbeats may have failed at the same moment: each before its next one was due. */
export function failedTogether(a: Omit<LastHeartbeat, 'zone'>, b: Omit<LastHeartbeat, 'zone'>): boolean {
  return a.heartbeatAtMs <= b.heartbeatAtMs + b.windowMs && b.heartbeatAtMs <= a.heartbeatAtMs + a.windowMs;
}

/** The outage of which the silence of this node is part, as {@link classifyOutages} has it. */
export function classifyOutage(heartbeats: Heartbeats, last: LastHeartbeat): OutageArithmetic {
  const zones = new StruckZones(heartbeats);
  zones.moveTo(last.heartbeatAtMs);
  return classify(heartbeats, zones, last);
}

/**
 * Classifies the outages of which these silences are part. Nodes that may have failed together count as one, however long
 * their grace periods and intervals are; one that stopped before does not count. In a cluster of one zone, zone and cluster are
 * the same: the class is ControlPlanePathFailure, and the control-plane nodes decide how long it may hold. Costs time for each node
 * and each silence, not for their product. The result is in the order of the last heartbeats.
 */
export function classifyOutages<T extends { readonly last: LastHeartbeat }>(
  heartbeats: Heartbeats,
  silences: readonly T[],
): readonly (readonly [T, OutageArithmetic])[] {
  const zones = new StruckZones(heartbeats);
  const inOrder = silences.toSorted((a, b) => a.last.heartbeatAtMs - b.last.heartbeatAtMs);
  return inOrder.map((silence) => {
    zones.moveTo(silence.last.heartbeatAtMs);
    return [silence, classify(heartbeats, zones, silence.last)];
  });
}

/** `zones`: at the last heartbeat. */
function classify(heartbeats: Heartbeats, struck: StruckZones, last: LastHeartbeat): OutageArithmetic {
  const { zone, heartbeatAtMs, windowMs } = last;
  const limitMs = heartbeatAtMs + windowMs + 1;
  const { zones } = struck;
  const zonesStruck = struck.struckBefore(limitMs);
  const own = ownTally(heartbeats.byZone.get(zone), struck.stoppedIn(zone), limitMs);
  const all = tallyFrom(heartbeats.all, struck.stopped, limitMs);
  const spread = isTogether(all) && isStruck(all) && (zonesStruck > 1 || zones === 1);
  const outage = spread ? 'ControlPlanePathFailure' : ofOneZone(own);
  const { together, of } = outage === 'ControlPlanePathFailure' ? all : own;
  const controlPlane = weighControlPlane(tally(heartbeats.controlPlane, last));
  return { outage, zone, together, of, zonesStruck, shareMin: struckShareMin, zones, windowMs, controlPlane };
}

/** Of a zone without a counted node that had not stopped before, the node itself counts. */
function ownTally(times: HeartbeatTimes | undefined, stopped: number, limitMs: number): Tally {
  const own = times && tallyFrom(times, stopped, limitMs);
  return own === undefined || own.of === 0 ? { together: 1, of: 1 } : own;
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
  return together >= of * struckShareMin;
}

function tally(times: HeartbeatTimes, { heartbeatAtMs, windowMs }: LastHeartbeat): Tally {
  return tallyFrom(times, countBelow(times.nextByMs, heartbeatAtMs), heartbeatAtMs + windowMs + 1);
}

/** `stopped`: so many of them had stopped before. */
function tallyFrom({ atMs }: HeartbeatTimes, stopped: number, limitMs: number): Tally {
  return { together: countBelow(atMs, limitMs) - stopped, of: atMs.length - stopped };
}
