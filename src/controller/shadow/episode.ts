/** The words of the comparison: who acted on what, and how the two of them differ. */

export type Party = 'us' | 'them';

/** What a lifecycle controller does to a node or a pod, as the metrics name it. */
export type Act =
  | 'node-unknown'
  | 'no-schedule-taint'
  | 'no-schedule-untaint'
  | 'no-execute-taint'
  | 'no-execute-untaint'
  | 'pod-not-ready'
  | 'pod-eviction';

export const acts: readonly Act[] = [
  'node-unknown',
  'no-schedule-taint',
  'no-schedule-untaint',
  'no-execute-taint',
  'no-execute-untaint',
  'pod-not-ready',
  'pod-eviction',
];

/** Seen from us: we acted at the same time, sooner, later, alone, or not at all. */
export type Outcome = 'agree' | 'earlier' | 'later' | 'only_us' | 'only_them';

export const outcomes: readonly Outcome[] = ['agree', 'earlier', 'later', 'only_us', 'only_them'];

/** One thing about an object that lifecycle controllers decide, and that is so or is not. */
export type Matter = 'unknown' | 'not-ready' | 'eviction' | TaintMatter;
/** A taint by its key and effect. */
export type TaintMatter = `${string}:NoSchedule` | `${string}:NoExecute`;

/**
 * One of the two has acted on a matter and the other has not yet. There is none while both have done the same, whoever did
 * it first: what follows from the same act again is folded into it.
 */
export interface Episode {
  readonly by: Party;
  /** What it is for the one who acted; for the other it is the opposite. */
  readonly value: boolean;
  /** On the monotonic clock. */
  readonly sinceMs: number;
  /** Its outcome is known and was counted; what follows is not counted again. */
  readonly told: boolean;
}

/** How an episode ended: the other followed; the first took it back; nobody can follow any more; or nobody did in time. */
export type Ending = 'followed' | 'taken-back' | 'cause-gone' | 'time-out';

export interface Verdict {
  readonly outcome: Outcome;
  readonly ending: Ending;
  readonly first: Party;
  /** The first act, and the second if there was one, on the monotonic clock. */
  readonly firstAtMs: number;
  readonly secondAtMs: number | undefined;
}

/** The object that an episode is about. A namesake with another uid is another object. */
export interface Subject {
  readonly kind: 'node' | 'pod';
  /** As in a decision: `n1`, `namespace/name`. */
  readonly name: string;
  readonly uid: string;
  /** Where a pod is; the node itself. */
  readonly node: string;
}

export function actOf(matter: Matter, value: boolean): Act {
  if (matter === 'unknown') return 'node-unknown';
  if (matter === 'not-ready') return 'pod-not-ready';
  if (matter === 'eviction') return 'pod-eviction';
  if (matter.endsWith(':NoSchedule')) return value ? 'no-schedule-taint' : 'no-schedule-untaint';
  return value ? 'no-execute-taint' : 'no-execute-untaint';
}
