// What a report says, as data.
import type { ClusterTrace } from '../../simulator/recording/cluster-trace.ts';
import { assessGrace, type GraceOutcome, listSilences, type Silence } from './assess-silences.ts';
import { buildQueries } from './build-queries.ts';
import type { Prometheus, Sample } from './prometheus.ts';

interface FaultFigures {
  readonly stage: string;
  readonly cause: string;
  readonly policy: string;
  readonly count: number;
  readonly medianSeconds: number;
  readonly ninetySeconds: number;
}

interface Ends {
  readonly policy: string;
  readonly right: number;
  readonly wrong: number;
}

/** Figures of the controller's metrics. Counts are whole: Prometheus extrapolates. */
export interface MetricsReport {
  readonly source: string;
  readonly since: string;
  readonly faults: readonly FaultFigures[];
  /** Recovered nodes, by what their boot IDs say. */
  readonly recovered: { readonly alive: number; readonly restarted: number; readonly unknown: number };
  readonly lost: readonly { readonly cause: string; readonly policy: string; readonly seconds: number }[];
  readonly warnings: readonly Ends[];
  readonly detections: readonly (Ends & { readonly savedSeconds: number })[];
}

export interface TraceReport {
  readonly startedAt: string;
  readonly seconds: number;
  readonly nodes: number;
  /** Shorter ones were not recorded. */
  readonly gapSeconds: number;
  readonly silences: readonly Silence[];
  readonly graces: readonly GraceOutcome[];
}

export function reportTrace(trace: ClusterTrace, graceSeconds: readonly number[]): TraceReport {
  const { header, records, end } = trace;
  const silences = listSilences(trace);
  return {
    startedAt: header.startedAt,
    seconds: end?.t ?? records.at(-1)?.t ?? 0,
    nodes: new Set(records.map(({ node }) => node)).size,
    gapSeconds: header.gapSeconds,
    silences,
    graces: graceSeconds.map((grace) => assessGrace(silences, grace)),
  };
}

/** The stages in the order of a fault. */
const stages = ['unknown', 'first_eviction', 'last_eviction', 'replacement', 'recovery'];

/** Rejects with an Error if a query fails. */
export async function reportMetrics(
  prometheus: Prometheus,
  { source, selector, since }: { readonly source: string; readonly selector: string; readonly since: string },
  signal: AbortSignal,
): Promise<MetricsReport> {
  const queries = buildQueries(selector, since);
  const ask = (name: keyof typeof queries): Promise<readonly Sample[]> => prometheus.query(queries[name], signal);
  const [faults, median, ninety, lostSeconds] = await Promise.all(
    (['faults', 'median', 'ninety', 'lostSeconds'] as const).map(ask),
  );
  const [recovered, warnings, detections, saved] = await Promise.all(
    (['recovered', 'warnings', 'detections', 'savedSeconds'] as const).map(ask),
  );
  const boots = (boot: string): number => countOf((recovered ?? []).find(({ labels }) => labels['boot'] === boot));
  const savedOf = (policy: string): number =>
    (saved ?? []).find(({ labels }) => labels['policy'] === policy)?.value ?? 0;
  return {
    source,
    since,
    faults: figuresOf(faults ?? [], median ?? [], ninety ?? []),
    recovered: { alive: boots('same'), restarted: boots('changed'), unknown: boots('unknown') },
    lost: (lostSeconds ?? [])
      .filter(({ value }) => value > 0)
      .map(({ labels: { cause = '', policy = '' }, value }) => ({ cause, policy, seconds: Math.round(value) })),
    warnings: endsOf(warnings ?? [], 'silent'),
    detections: endsOf(detections ?? [], 'confirmed').map((ends) => ({ ...ends, savedSeconds: savedOf(ends.policy) })),
  };
}

function figuresOf(
  counts: readonly Sample[],
  medians: readonly Sample[],
  nineties: readonly Sample[],
): readonly FaultFigures[] {
  const of = (samples: readonly Sample[], { labels: { stage, cause, policy } }: Sample): number =>
    samples.find(({ labels }) => labels['stage'] === stage && labels['cause'] === cause && labels['policy'] === policy)
      ?.value ?? 0;
  return counts
    .filter((sample) => countOf(sample) > 0)
    .map((sample) => {
      const { stage = '', cause = '', policy = '' } = sample.labels;
      const times = { medianSeconds: of(medians, sample), ninetySeconds: of(nineties, sample) };
      return { stage, cause, policy, count: countOf(sample), ...times };
    })
    .sort((a, b) => a.policy.localeCompare(b.policy) || a.cause.localeCompare(b.cause) || orderOf(a) - orderOf(b));
}

function orderOf({ stage }: FaultFigures): number {
  return stages.indexOf(stage);
}

/** How warnings or detections of each policy ended; `rightEnd`: with which they were right. */
function endsOf(samples: readonly Sample[], rightEnd: string): readonly Ends[] {
  const byPolicy = Map.groupBy(samples, ({ labels }) => labels['policy'] ?? '');
  return [...byPolicy]
    .map(([policy, ends]) => {
      const of = (end: string): number => countOf(ends.find(({ labels }) => labels['end'] === end));
      return { policy, right: of(rightEnd), wrong: of('heartbeat') };
    })
    .filter(({ right, wrong }) => right + wrong > 0)
    .sort((a, b) => a.policy.localeCompare(b.policy));
}

function countOf(sample: Sample | undefined): number {
  return Math.round(sample?.value ?? 0);
}
