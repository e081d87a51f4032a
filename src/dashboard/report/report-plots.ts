import { h, type JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatDuration } from '../page/format-time.ts';
import { Panel } from '../page/panel.ts';
import type { Palette } from '../page/theme.ts';
import { describeTrend } from '../trends/build-trends.ts';
import { clockText } from '../trends/plot.ts';
import { PlotArea, type PlotFigureProps } from '../trends/trends.ts';
import { buildReportTrends } from './build-report-trends.ts';
import type { ReportRun } from './report-data.ts';

interface ReportPlotsProps {
  readonly run: ReportRun;
  readonly atMs: number;
  readonly palette: Palette;
}

/** The whole run as plots, with a mark at the moment that is shown. */
export function ReportPlots({ run, atMs, palette }: ReportPlotsProps): JSX.Element {
  const [times, trends] = useMemo(
    () => [run.samples.map(([sampleMs]) => sampleMs / 1_000), buildReportTrends(run)] as const,
    [run],
  );
  return h(
    Panel,
    { id: 'trends', title: 'Trends', note: `the whole run, one value per ${formatDuration(run.sampleMs / 1_000)}` },
    h(
      'div',
      { class: 'plots' },
      trends.map((trend) => h(Figure, { key: trend.title, trend, times, atMs, palette })),
    ),
  );
}

interface FigureProps extends PlotFigureProps {
  readonly atMs: number;
}

function Figure({ trend, times, atMs, palette }: FigureProps): JSX.Element {
  return h(
    'figure',
    { class: 'plot', 'aria-label': trend.title },
    h('figcaption', null, h('span', null, trend.title)),
    h(PlotArea, { trend, times, palette, cursor: atMs / 1_000, onPoint: () => {} }),
    h('p', { class: 'hidden-text' }, describeTrend(trend, times, clockText)),
  );
}
