/** The comparison as a page has it. Times are RFC 3339 with fractions. */
import type { Act, Ending, Outcome, Party } from './episode.ts';

export type Totals = Readonly<Record<Act, Readonly<Record<Outcome, number>>>>;

export interface EpisodeReport {
  readonly act: Act;
  /** `node/NAME` or `pod/NAMESPACE/NAME`. */
  readonly subject: string;
  readonly outcome: Outcome;
  readonly ending: Ending;
  /** When we would have acted; null: we would not have. */
  readonly ours: string | null;
  /** When we saw that they had acted; null: they had not. */
  readonly theirs: string | null;
  /** By how much the first was ahead; null where only one acted. */
  readonly differenceSeconds: number | null;
  /** Our decision behind it, or the last one about the object where we did not act; null where we decided nothing. */
  readonly why: string | null;
}

/** One side has acted, and the other is waited for. */
export interface WaitingReport {
  readonly act: Act;
  readonly subject: string;
  /** Who has acted. */
  readonly by: Party;
  readonly since: string;
}

export interface ShadowReport {
  readonly at: string;
  /** Since when we compare. */
  readonly since: string;
  readonly writes: 'nothing';
  /** Acts that are this close count as agreement. */
  readonly toleranceSeconds: number;
  /** For how long the other's act is waited for. */
  readonly waitSeconds: number;
  readonly totals: Totals;
  readonly open: number;
  /** Some of those that are open. */
  readonly waiting: readonly WaitingReport[];
  /** Episodes of objects that went, or were deleted by others, before anything could be said. */
  readonly undecided: number;
  /** The last ones that are over, newest first. */
  readonly episodes: readonly EpisodeReport[];
}
