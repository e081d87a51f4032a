// Counts, keeps and tells what came out of the episodes.
import { formatMicroTime } from '../../api/timestamps.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogFields, Logger } from '../../ports/logger.ts';
import type { Meter } from '../../ports/meter.ts';
import { deriveReason, type ToldDecision } from './derive-reason.ts';
import type { ClosedEpisode } from './episode-ledger.ts';
import { type Act, acts, type Outcome, outcomes } from './episode.ts';
import { shadowDifference, shadowEpisodes, shadowMode } from './metrics.ts';
import type { EpisodeReport, Totals } from './report.ts';

/** Episodes that the page shows. */
const episodesKept = 200;

export interface ComparisonOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  /** The decisions about a node or a pod, oldest first. */
  readonly decisionsOf: (subject: string) => readonly ToldDecision[];
}

export class Comparison {
  readonly sinceMs: number;
  readonly #options: ComparisonOptions;
  readonly #totals = noTotals();
  /** Over, and their reason is not known yet. */
  #fresh: ClosedEpisode[] = [];
  #episodes: EpisodeReport[] = [];
  #undecided = 0;

  constructor(options: ComparisonOptions) {
    this.#options = options;
    this.sinceMs = options.clock.nowMs();
    options.meter.set(shadowMode, 1);
    for (const act of acts) for (const outcome of outcomes) options.meter.add(shadowEpisodes, 0, { act, outcome });
  }

  get totals(): Totals {
    return this.#totals;
  }

  get undecided(): number {
    return this.#undecided;
  }

  /** Newest first. */
  episodes(): readonly EpisodeReport[] {
    this.tell();
    return this.#episodes;
  }

  addUndecided(): void {
    this.#undecided += 1;
  }

  add(closed: ClosedEpisode): void {
    const { act, outcome, first, firstAtMs, secondAtMs } = closed;
    const { meter } = this.#options;
    this.#totals[act][outcome] += 1;
    meter.add(shadowEpisodes, 1, { act, outcome });
    if (secondAtMs !== undefined) {
      meter.observe(shadowDifference, (secondAtMs - firstAtMs) / 1_000, { act, first });
    }
    this.#fresh.push(closed);
  }

  /** Logs what has come to an end since the last time, if the two differ. To be called a moment after the acts. */
  tell(): void {
    const told = this.#fresh.map((closed) => this.#report(closed));
    this.#fresh = [];
    for (const report of told) if (report.outcome !== 'agree') this.#log(report);
    this.#episodes = [...told.toReversed(), ...this.#episodes].slice(0, episodesKept);
  }

  #report(closed: ClosedEpisode): EpisodeReport {
    const { subject, act, outcome, ending, first, firstAtMs, secondAtMs } = closed;
    const [ours, theirs] = first === 'us' ? [firstAtMs, secondAtMs] : [secondAtMs, firstAtMs];
    return {
      act,
      subject: `${subject.kind}/${subject.name}`,
      outcome,
      ending,
      ours: this.#time(ours),
      theirs: this.#time(theirs),
      differenceSeconds: secondAtMs === undefined ? null : (secondAtMs - firstAtMs) / 1_000,
      why: this.#reason(closed, ours) ?? null,
    };
  }

  #reason({ subject, act }: ClosedEpisode, oursAtMs: number | undefined): string | undefined {
    const { decisionsOf } = this.#options;
    const own = deriveReason(act, this.#wallMs(oursAtMs), decisionsOf(subject.name));
    return own ?? (subject.kind === 'pod' ? decisionsOf(subject.node).at(-1)?.text : undefined);
  }

  #log({ subject, ...report }: EpisodeReport): void {
    const fields: LogFields = { subject, ...report };
    this.#options.logger.info(fields, 'shadow: we differ');
  }

  #time(atMs: number | undefined): string | null {
    const wallMs = this.#wallMs(atMs);
    return wallMs === undefined ? null : formatMicroTime(wallMs);
  }

  #wallMs(atMs: number | undefined): number | undefined {
    const { clock } = this.#options;
    return atMs === undefined ? undefined : clock.nowMs() - clock.monotonicMs() + atMs;
  }
}

function noTotals(): Record<Act, Record<Outcome, number>> {
  return {
    'node-unknown': noOutcomes(),
    'no-schedule-taint': noOutcomes(),
    'no-schedule-untaint': noOutcomes(),
    'no-execute-taint': noOutcomes(),
    'no-execute-untaint': noOutcomes(),
    'pod-not-ready': noOutcomes(),
    'pod-eviction': noOutcomes(),
  };
}

function noOutcomes(): Record<Outcome, number> {
  return { agree: 0, earlier: 0, later: 0, only_us: 0, only_them: 0 };
}
