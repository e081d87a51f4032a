// The course as a table, and as a chart.
import type { Panel } from '../format-chart.ts';
import { percentile } from '../percentile.ts';
import type { Course } from './course.ts';

const rssMbMax = 600;

/** Markdown, which is readable on a terminal too. */
export function formatSummary(course: Course): string {
  const { nodes, pods, rate, measuredFromSeconds, samples, loop, lags, stub } = course;
  const measured = samples.filter(({ atSeconds }) => atSeconds > measuredFromSeconds);
  const delays = loop.filter(({ atSeconds }) => atSeconds > measuredFromSeconds);
  const cores = mean(measured.map((sample) => sample.cores));
  const lagMs = lags.map((lag) => lag.lagMs);
  const number = (value: number): string => value.toLocaleString('en');
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  const unexpected = Object.entries(stub.unexpected).map(([what, count]) => `${count} x ${what}`);
  const lines = [
    ['start to synced caches', `${course.syncedAtSeconds.toFixed(1)} s`],
    ['CPU', `${cores.toFixed(2)} of a core, ${((cores * 1e6) / rate).toFixed(1)} µs per renewal`],
    [
      'RSS, median',
      `${percentile(
        measured.map(({ rssMb }) => rssMb),
        0.5,
      ).toFixed(0)} MB`,
    ],
    ['RSS, peak', `${course.peakRssMb.toFixed(0)} MB (target: ${rssMbMax} MB at 100,000 nodes and 1,000,000 pods)`],
    [
      'age of a renewal when it is applied, p50 / p99 / max',
      [0.5, 0.99, 1].map((p) => ms(percentile(lagMs, p))).join(' / '),
    ],
    [
      'event loop delay, median of the maxima of a second / max',
      [0.5, 1]
        .map((p) =>
          ms(
            percentile(
              delays.map(({ maxMs }) => maxMs),
              p,
            ),
          ),
        )
        .join(' / '),
    ],
    [
      'renewals sent, most that were late to be sent at one moment',
      `${number(stub.renewals)}, ${number(stub.behindMax)}`,
    ],
    ['requests that a healthy cluster does not need', unexpected.length === 0 ? 'none' : unexpected.join('; ')],
  ];
  return [
    `${number(nodes)} nodes, ${number(pods)} pods, ${number(rate)} renewals per second:`,
    '',
    '| figure | measured |',
    '| --- | --- |',
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}

/** CPU, memory, age of renewals and event loop delay over time. */
export function coursePanels({ samples, loop, lags }: Course): readonly Panel[] {
  const x = { label: 'seconds since the start', scale: 'linear' } as const;
  const panel = (title: string, unit: string, lines: Panel['lines']): Panel => ({
    title,
    x,
    y: { label: unit, scale: 'linear' },
    lines,
  });
  return [
    panel('CPU', 'cores', [{ name: '', points: samples.map(({ atSeconds, cores }) => ({ x: atSeconds, y: cores })) }]),
    panel('RSS', 'MB', [{ name: '', points: samples.map(({ atSeconds, rssMb }) => ({ x: atSeconds, y: rssMb })) }]),
    panel('age of a renewal when it is applied', 'ms', [
      { name: '', points: lags.map(({ atSeconds, lagMs }) => ({ x: atSeconds, y: lagMs })) },
    ]),
    panel('event loop delay', 'ms', [
      { name: 'max', points: loop.map(({ atSeconds, maxMs }) => ({ x: atSeconds, y: maxMs })) },
      { name: 'p99', points: loop.map(({ atSeconds, p99Ms }) => ({ x: atSeconds, y: p99Ms })) },
    ]),
  ];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
