import { formatAmount } from '../page/format-number.ts';
import type { Sample } from '../protocol.ts';

type Values = readonly (number | null)[];

interface TrendSeries {
  /** Empty where the plot has one series. */
  readonly label: string;
  readonly values: Values;
}

/** One plot. */
export interface Trend {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly TrendSeries[];
}

/** Seconds since 1970: the x axis of all plots. */
export function buildTrendTimes(samples: readonly Sample[]): readonly number[] {
  return samples.map(({ at }) => Date.parse(at) / 1_000);
}

export function buildTrends(samples: readonly Sample[], everySeconds: number): readonly Trend[] {
  return [
    { title: 'Silent nodes', unit: '', series: [{ label: '', values: samples.map(({ silent }) => silent) }] },
    {
      title: 'Evictions per second',
      unit: '/s',
      series: [{ label: '', values: samples.map(({ evictions }) => buildRate(evictions, everySeconds)) }],
    },
    {
      title: 'API requests per second',
      unit: '/s',
      series: [{ label: '', values: samples.map(({ requests }) => buildRate(requests, everySeconds)) }],
    },
    {
      title: 'Heartbeat age',
      unit: 's',
      series: [
        { label: 'p50', values: samples.map(({ heartbeatP50 }) => heartbeatP50) },
        { label: 'p99', values: samples.map(({ heartbeatP99 }) => heartbeatP99) },
      ],
    },
  ];
}

function buildRate(count: number | null, seconds: number): number | null {
  return count === null ? null : count / seconds;
}

/** `4.1s`; a value that is not known is a dash. */
export function formatTrendValue(value: number | null | undefined, { unit }: Trend): string {
  return value === null || value === undefined ? '–' : `${formatAmount(value)}${unit}`;
}

/** What the plot shows, in words: the last value, and the range with the time of the maximum. */
export function describeTrend(trend: Trend, times: readonly number[], clock: (seconds: number) => string): string {
  const parts = trend.series.map(({ label, values }) => {
    const subject = label === '' ? trend.title : `${trend.title} ${label}`;
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${subject}: no value yet`;
    const [lowest, highest] = [Math.min(...known), Math.max(...known)];
    const at = clock(times[values.lastIndexOf(highest)] ?? 0);
    const range =
      lowest === highest
        ? 'constant'
        : `lowest ${formatTrendValue(lowest, trend)}, highest ${formatTrendValue(highest, trend)} at ${at}`;
    return `${subject}: now ${formatTrendValue(values.at(-1), trend)}, ${range}`;
  });
  return `${parts.join('. ')}.`;
}
