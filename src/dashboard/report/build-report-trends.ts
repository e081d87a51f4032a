import type { Trend } from '../trends/build-trends.ts';
import type { ReportRun } from './report-data.ts';

/** The plots of a run. */
export function buildReportTrends({ samples, sampleMs }: ReportRun): readonly Trend[] {
  const seconds = sampleMs / 1_000;
  const minutes = seconds / 60;
  const series = (values: readonly number[]): Trend['series'] => [{ label: '', values }];
  return [
    { title: 'Nodes that are not ready', unit: '', series: series(samples.map(([, notReady]) => notReady)) },
    {
      title: 'NoExecute taints per minute',
      unit: '/min',
      series: series(samples.map(([, , noExecute]) => noExecute / minutes)),
    },
    {
      title: 'Deleted pods per minute',
      unit: '/min',
      series: series(samples.map(([, , , deletions]) => deletions / minutes)),
    },
    {
      title: 'Requests of the controller per second',
      unit: '/s',
      series: series(samples.map(([, , , , requests]) => requests / seconds)),
    },
  ];
}
