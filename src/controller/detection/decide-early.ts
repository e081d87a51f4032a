import type { DetectionDoubt, RoundResult } from '../model/detection.ts';

/** So many rounds in a row without an answer, from each place. */
export const roundsNeeded = 2;
/** An older result of a round says nothing about now. */
const countsForMs = 5_000;

interface EarlyEvidence {
  readonly silentMs: number;
  readonly earliestMs: number;
  /** For how long this process has followed heartbeats: before that it does not know which nodes are silent. */
  readonly observedMs: number;
  readonly graceMs: number;
  /** The result of the last round; undefined: none has ended. */
  readonly last: RoundResult | undefined;
  readonly lastAgoMs: number;
  /** Rounds without an answer up to the last one. */
  readonly silentRounds: number;
  /** A limit leaves no room for all nodes that send no heartbeats. */
  readonly areTooMany: boolean;
  readonly isStale: boolean;
  /** Another replica, on another node, has found the same. */
  readonly isWitnessed: boolean;
}

/** Why a node is not Unknown before its grace period ends; undefined: it is proven that it sends no heartbeat. */
export function decideEarly(evidence: EarlyEvidence): DetectionDoubt | undefined {
  if (evidence.observedMs < evidence.graceMs) return 'starting';
  if (evidence.isStale) return 'stale';
  if (evidence.areTooMany) return 'too-many';
  return doubtOfRounds(evidence) ?? doubtOfTime(evidence);
}

function doubtOfRounds({ last, lastAgoMs, silentRounds }: EarlyEvidence): DetectionDoubt | undefined {
  if (last === undefined || lastAgoMs > countsForMs) return 'asking';
  if (last !== 'no-answer') return last;
  return silentRounds < roundsNeeded ? 'asking' : undefined;
}

/** The other replica is asked last: its report may change until then. */
function doubtOfTime({ silentMs, earliestMs, isWitnessed }: EarlyEvidence): DetectionDoubt | undefined {
  if (silentMs <= earliestMs) return 'too-early';
  return isWitnessed ? undefined : 'no-witness';
}
