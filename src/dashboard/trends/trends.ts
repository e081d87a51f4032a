import { h, type JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { formatDuration } from '../page/format-time.ts';
import { Panel } from '../page/panel.ts';
import type { Palette } from '../page/theme.ts';
import { useSize } from '../page/use-size.ts';
import type { Sample } from '../protocol.ts';
import { buildTrends, buildTrendTimes, describeTrend, formatTrendValue, type Trend } from './build-trends.ts';
import { clockText, createPlot } from './plot.ts';

interface TrendsProps {
  readonly samples: readonly Sample[];
  readonly everySeconds: number;
  readonly palette: Palette;
}

const plotHeight = 120;

/** The last hour as plots, each with its text. */
export function Trends({ samples, everySeconds, palette }: TrendsProps): JSX.Element {
  const [times, trends] = useMemo(() => [buildTrendTimes(samples), buildTrends(samples, everySeconds)], [samples]);
  const note =
    samples.length === 0
      ? 'no samples yet'
      : `last ${formatDuration(samples.length * everySeconds)}, one value per ${formatDuration(everySeconds)}`;
  return h(
    Panel,
    { id: 'trends', title: 'Trends', note },
    h(
      'div',
      { class: 'plots' },
      trends.map((trend) => h(PlotFigure, { key: trend.title, trend, times, palette })),
    ),
  );
}

export interface PlotFigureProps {
  readonly trend: Trend;
  readonly times: readonly number[];
  readonly palette: Palette;
}

function PlotFigure({ trend, times, palette }: PlotFigureProps): JSX.Element {
  const [point, setPoint] = useState<number | null>(null);
  const shown = point ?? times.length - 1;
  const at = point === null || times[point] === undefined ? 'now' : clockText(times[point]);
  return h(
    'figure',
    { class: 'plot', 'aria-label': trend.title },
    h(
      'figcaption',
      null,
      h('span', null, trend.title),
      h(
        'span',
        { class: 'plot-values', 'aria-hidden': 'true' },
        trend.series.map(({ label, values }, index) =>
          h('span', { key: label, class: `series-${index + 1}` }, `${label} ${formatTrendValue(values[shown], trend)}`),
        ),
        h('span', { class: 'muted' }, at),
      ),
    ),
    h(PlotArea, { trend, times, palette, onPoint: setPoint }),
    h('p', { class: 'hidden-text' }, describeTrend(trend, times, clockText)),
  );
}

interface PlotAreaProps extends PlotFigureProps {
  readonly onPoint: (index: number | null) => void;
  /** Where the cursor is set, in seconds; absent: it follows the pointer alone. */
  readonly cursor?: number;
}

export function PlotArea({ trend, times, palette, onPoint, cursor }: PlotAreaProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const { width } = useSize(place);
  useEffect(() => {
    if (place.current === null || width === 0) return undefined;
    plot.current = createPlot(place.current, { trend, palette, width, height: plotHeight, onPoint });
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [palette, width]);
  useEffect(() => {
    plot.current?.setData([[...times], ...trend.series.map(({ values }) => [...values])]);
  }, [times, palette, width]);
  useEffect(() => {
    const drawn = plot.current;
    // The cursor of the other plots follows by itself.
    if (cursor !== undefined) drawn?.setCursor({ left: drawn.valToPos(cursor, 'x'), top: 0 }, false);
  }, [cursor, times, palette, width]);
  return h('div', { class: 'plot-area', ref: place, 'aria-hidden': 'true' });
}
