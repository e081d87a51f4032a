// Counts, keeps and logs the outcomes of episodes.
import { formatMicroTime } from '../../machinery/api/timestamps.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import type { ClosedEpisode } from './episode-ledger.ts';
import { type Act, acts, type Agreement, agreements } from './episode.ts';
import { shadowDifference, shadowEpisodes, shadowMode } from './metrics.ts';
import type { EpisodeReport, Totals } from './report.ts';
import type { Decision } from '../model/decisions.ts';

/** Number of closed episodes in the report. */
const episodesKept = 200;

export interface ComparisonOptions extends Ambient {
  /** The decisions about a node or a pod, oldest first. */
  readonly decisionsOf: (subject: string) => readonly RecordedDecision[];
}

export class Comparison {
  readonly sinceMs: number;
  readonly #options: ComparisonOptions;
  readonly #totals = noTotals();
  /** Closed episodes whose reason has not been looked up yet. */
  #fresh: ClosedEpisode[] = [];
  #episodes: EpisodeReport[] = [];
  #undecided = 0;

  constructor(options: ComparisonOptions) {
    this.#options = options;
    this.sinceMs = options.clock.nowMs();
    options.meter.set(shadowMode, 1);
    for (const act of acts) for (const outcome of agreements) options.meter.add(shadowEpisodes, 0, { act, outcome });
  }

  get totals(): Totals {
    return this.#totals;
  }

  get undecided(): number {
    return this.#undecided;
  }

  /** Newest first. */
  episodes(): readonly EpisodeReport[] {
    this.logOutcomes();
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

  /** Logs the episodes closed since the last call in which the two sides differ. Called shortly after the actions. */
  logOutcomes(): void {
    const reports = this.#fresh.map((closed) => this.#report(closed));
    this.#fresh = [];
    for (const report of reports) {
      if (report.outcome !== 'agree') this.#options.logger.info({ ...report }, 'shadow mode: decisions differ');
    }
    this.#episodes = [...reports.toReversed(), ...this.#episodes].slice(0, episodesKept);
  }

  #report(closed: ClosedEpisode): EpisodeReport {
    const { subject, act, outcome, ending, first, firstAtMs, secondAtMs } = closed;
    const [shadowAtMs, clusterAtMs] = first === 'shadow' ? [firstAtMs, secondAtMs] : [secondAtMs, firstAtMs];
    return {
      act,
      subject: `${subject.kind}/${subject.name}`,
      outcome,
      ending,
      shadowAt: this.#time(shadowAtMs),
      clusterAt: this.#time(clusterAtMs),
      differenceSeconds: secondAtMs === undefined ? null : (secondAtMs - firstAtMs) / 1_000,
      why: this.#reason(closed, shadowAtMs) ?? null,
    };
  }

  #reason({ subject, act }: ClosedEpisode, shadowAtMs: number | undefined): string | undefined {
    const { decisionsOf } = this.#options;
    const own = selectReason(act, this.#wallMs(shadowAtMs), decisionsOf(subject.name));
    return own ?? (subject.kind === 'pod' ? decisionsOf(subject.node).at(-1)?.text : undefined);
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

function noTotals(): Record<Act, Record<Agreement, number>> {
  const noOutcomes = agreements.map((outcome) => [outcome, 0] as const);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry for each act and each agreement
  return Object.fromEntries(acts.map((act) => [act, Object.fromEntries(noOutcomes)])) as ReturnType<typeof noTotals>;
}

export interface RecordedDecision {
  /** Wall time. */
  readonly atMs: number;
  readonly decision: Decision;
  readonly text: string;
}

/** The wall clock has whole milliseconds, and the two clocks are read one after the other. */
const readingMs = 50;

const kindOf: Readonly<Record<Act, Decision['kind']>> = {
  'node-unknown': 'node-silent',
  'no-schedule-taint': 'taints-changed',
  'no-schedule-untaint': 'taints-changed',
  'no-execute-taint': 'taints-changed',
  'no-execute-untaint': 'taints-changed',
  'pod-not-ready': 'pod-marked-not-ready',
  'pod-eviction': 'pod-evicted',
};

/** The decision behind the shadow's action; without an action, the last decision about the object. */
export function selectReason(
  act: Act,
  shadowAtMs: number | undefined,
  history: readonly RecordedDecision[],
): string | undefined {
  if (shadowAtMs === undefined) return history.at(-1)?.text;
  const effect = act.startsWith('no-schedule') ? ':NoSchedule' : ':NoExecute';
  return history.find(({ atMs, decision }) => atMs >= shadowAtMs - readingMs && fits(decision, act, effect))?.text;
}

function fits(decision: Decision, act: Act, effect: string): boolean {
  if (decision.kind !== kindOf[act]) return false;
  if (decision.kind !== 'taints-changed') return true;
  const taints = act.endsWith('untaint') ? decision.removed : decision.added;
  return taints.some((taint) => taint.endsWith(effect));
}
