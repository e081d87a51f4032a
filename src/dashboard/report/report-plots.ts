import { h, type JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { formatDuration } from '../page/format-time.ts';
import { Panel } from '../page/panel.ts';
import type { Palette } from '../page/theme.ts';
import { useSize } from '../page/use-size.ts';
import { describeTrend, type Trend } from '../trends/build-trends.ts';
import { clockText, createPlot } from '../trends/plot.ts';
import { buildReportTrends } from './build-report-trends.ts';
import type { ReportRun } from './report-data.ts';

interface ReportPlotsProps {
  readonly run: ReportRun;
  readonly atMs: number;
  readonly palette: Palette;
}

const plotHeight = 120;

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

interface FigureProps {
  readonly trend: Trend;
  readonly times: readonly number[];
  readonly atMs: number;
  readonly palette: Palette;
}

function Figure({ trend, times, atMs, palette }: FigureProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const { width } = useSize(place);
  useEffect(() => {
    if (place.current === null || width === 0) return undefined;
    plot.current = createPlot(place.current, { trend, palette, width, height: plotHeight, onPoint: () => {} });
    plot.current.setData([[...times], ...trend.series.map(({ values }) => [...values])]);
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [trend, palette, width]);
  useEffect(() => {
    const drawn = plot.current;
    // The cursor of the other plots follows by itself.
    drawn?.setCursor({ left: drawn.valToPos(atMs / 1_000, 'x'), top: 0 }, false);
  }, [atMs, trend, palette, width]);
  return h(
    'figure',
    { class: 'plot', 'aria-label': trend.title },
    h('figcaption', null, h('span', null, trend.title)),
    h('div', { class: 'plot-area', ref: place, 'aria-hidden': 'true' }),
    h('p', { class: 'hidden-text' }, describeTrend(trend, times, clockText)),
  );
}
