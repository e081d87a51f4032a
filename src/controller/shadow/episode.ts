/** Types of the comparison: who acted on what, and how the two sides differ. */

export type Party = 'shadow' | 'cluster';

/** Actions of a lifecycle controller on a node or a pod, as named in metrics. */
export const acts = [
  'node-unknown',
  'no-schedule-taint',
  'no-schedule-untaint',
  'no-execute-taint',
  'no-execute-untaint',
  'pod-not-ready',
  'pod-eviction',
] as const;
export type Act = (typeof acts)[number];

/** Outcomes for the shadow: it acted at the same time, earlier, later, alone, or not at all. */
export const agreements = ['agree', 'earlier', 'later', 'only_shadow', 'only_cluster'] as const;
export type Agreement = (typeof agreements)[number];

/** A boolean property of an object that lifecycle controllers decide. */
export type Matter = 'unknown' | 'not-ready' | 'eviction' | TaintMatter;
/** A taint by its key and effect. */
export type TaintMatter = `${string}:NoSchedule` | `${string}:NoExecute`;

/**
 * One side has acted on a matter and the other has not yet. There is no episode while both agree, in whatever order
 * they acted: repeated actions are folded into the same episode.
 */
export interface Episode {
  readonly by: Party;
  /** The value for the side that acted; for the other it is the opposite. */
  readonly value: boolean;
  /** Start on the monotonic clock. */
  readonly sinceMs: number;
  /** The outcome was counted; later actions are not counted again. */
  readonly counted: boolean;
}

/** How an episode ended: the other followed; the first reverted; the cause ended; or the maximum wait was reached. */
export type Ending = 'followed' | 'taken-back' | 'cause-gone' | 'time-out';

export interface EpisodeResult {
  readonly outcome: Agreement;
  readonly ending: Ending;
  readonly first: Party;
  /** Times of the first action and of the second if there was one, on the monotonic clock. */
  readonly firstAtMs: number;
  readonly secondAtMs: number | undefined;
}

/** The object of an episode. Another uid is another object. */
export interface EpisodeSubject {
  readonly kind: 'node' | 'pod';
  /** Name as in a decision: `n1`, `namespace/name`. */
  readonly name: string;
  readonly uid: string;
  /** The node of a pod; the node itself. */
  readonly node: string;
}

export function actOf(matter: Matter, value: boolean): Act {
  if (matter === 'unknown') return 'node-unknown';
  if (matter === 'not-ready') return 'pod-not-ready';
  if (matter === 'eviction') return 'pod-eviction';
  if (matter.endsWith(':NoSchedule')) return value ? 'no-schedule-taint' : 'no-schedule-untaint';
  return value ? 'no-execute-taint' : 'no-execute-untaint';
}
