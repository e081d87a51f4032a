// What probes say of a node without heartbeats, before its grace period ends.

/**
 * What one round of probes found. `path-suspect`: nodes that are alive do not answer either. `not-asked`: no address is known, or this
 * machine could not send. `never-answered`: it did not while it was alive.
 */
export type RoundResult = 'answered' | 'no-answer' | 'path-suspect' | 'not-asked' | 'never-answered';

/** Why a node without heartbeats is not Unknown before its grace period ends. */
export type DetectionDoubt =
  | 'starting'
  | 'too-early'
  | 'stale'
  | 'too-many'
  | 'asking'
  | 'no-witness'
  | Exclude<RoundResult, 'no-answer'>;

export const detectionDoubts: Readonly<Record<DetectionDoubt, string>> = {
  starting: 'this replica has not followed heartbeats for a grace period yet',
  'too-early': 'its last heartbeat is younger than detection.earliest',
  stale: 'the watches of this controller are stale',
  'too-many':
    'more nodes are unhealthy or without heartbeats than limits.maxUnhealthy allows, or than are asked at once',
  asking: 'it has not been asked often enough yet',
  'never-answered': 'its machine has not answered this replica before, while it sent heartbeats',
  answered: 'its machine answers',
  'path-suspect': 'nodes that are alive do not answer either',
  'not-asked': 'it cannot be asked: it has no address, or it could not be read',
  'no-witness': 'no replica that is known to run on another node reports that it does not answer',
};

/** What another replica found from its own place in the network. */
export interface WitnessReport {
  /** Identity of the replica. */
  readonly identity: string;
  /** The node on which it runs; empty: it does not know. */
  readonly place: string;
  /** Wall time by its clock. */
  readonly reportedAtMs: number;
  /** Nodes whose machines do not answer, each with the last heartbeat before it, as its kubelet wrote the time. */
  readonly unanswered: ReadonlyMap<string, string>;
}

/** The report that the replicas of a controller share. Both calls reject only with an ApiError. */
export interface WitnessReports {
  /** This replica. */
  readonly own: Pick<WitnessReport, 'identity' | 'place'>;
  /** The last one; undefined: there is none, or it cannot be understood. */
  read(signal: AbortSignal): Promise<WitnessReport | undefined>;
  /** Rejects with `already-exists` where two replicas write the first report at once. */
  write(unanswered: WitnessReport['unanswered'], signal: AbortSignal): Promise<void>;
}
