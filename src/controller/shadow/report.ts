/** The comparison as JSON. Times are RFC 3339 with fractions. */
import type { Act, Ending, Agreement, Party } from './episode.ts';

export type Totals = Readonly<Record<Act, Readonly<Record<Agreement, number>>>>;

export interface EpisodeReport {
  readonly act: Act;
  /** `node/NAME` or `pod/NAMESPACE/NAME`. */
  readonly subject: string;
  readonly outcome: Agreement;
  readonly ending: Ending;
  /** When the shadow would have acted; null: it would not have. */
  readonly shadowAt: string | null;
  /** When the action of the cluster was observed; null: it did not act. */
  readonly clusterAt: string | null;
  /** Time between the two actions; null where only one side acted. */
  readonly differenceSeconds: number | null;
  /**
   * The shadow's decision behind it, or the last one about the object where it did not act; null without a decision.
   */
  readonly why: string | null;
}

/** One side has acted, and the other may follow. */
interface WaitingReport {
  readonly act: Act;
  readonly subject: string;
  /** The side that acted. */
  readonly by: Party;
  readonly since: string;
}

export interface ShadowReport {
  readonly at: string;
  /** Start of the comparison. */
  readonly since: string;
  readonly writes: 'nothing';
  /** Actions within this time count as agreement. */
  readonly toleranceSeconds: number;
  /** Maximum wait for the action of the other side. */
  readonly waitSeconds: number;
  readonly totals: Totals;
  readonly open: number;
  /** A part of the open episodes. */
  readonly waiting: readonly WaitingReport[];
  /** Number of episodes of objects that were deleted before the outcome was known. */
  readonly undecided: number;
  /** The last closed episodes, newest first. */
  readonly episodes: readonly EpisodeReport[];
}
