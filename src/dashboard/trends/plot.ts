import '../page/valid-language.ts';
import uPlot from 'uplot';
import { formatClock } from '../page/format-time.ts';
import type { Palette } from '../page/theme.ts';
import { formatTrendValue, type Trend } from './build-trends.ts';

const font = '11px system-ui, sans-serif';

interface PlotInput {
  readonly trend: Trend;
  readonly palette: Palette;
  readonly width: number;
  readonly height: number;
  /** The index under the pointer; null: none. */
  readonly onPoint: (index: number | null) => void;
}

/** A plot in an element; the pointer is at the same time in all plots. */
export function createPlot(target: HTMLElement, { trend, palette, width, height, onPoint }: PlotInput): uPlot {
  const axis = {
    font,
    stroke: palette.muted,
    grid: { stroke: palette.line, width: 1 },
    ticks: { show: false },
  };
  const options: uPlot.Options = {
    width,
    height,
    legend: { show: false },
    padding: [8, 18, 0, 0],
    cursor: { sync: { key: 'trends' }, drag: { x: false, y: false }, points: { size: 6 }, y: false },
    scales: { y: { range: (_, _lowest, highest) => [0, highest > 0 ? highest * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        size: 24,
        space: 70,
        values: (_, times) => tickTexts(times),
      },
      { ...axis, size: 44, space: 28, values: (_, values) => values.map((value) => formatTrendValue(value, trend)) },
    ],
    series: [
      {},
      ...trend.series.map(({ label }, index) => seriesOptions(label, palette.series[index] ?? palette.text, index)),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
  return new uPlot(options, undefined, target);
}

function seriesOptions(label: string, stroke: string, index: number): uPlot.Series {
  // The second series is dashed, so that color is not the only difference.
  return { label, stroke, width: 1.5, points: { show: false }, ...(index === 0 ? {} : { dash: [5, 3] }) };
}

/** Texts of ticks, without seconds unless ticks are less than a minute apart. */
function tickTexts([first = 0, second = Infinity, ...others]: readonly number[]): string[] {
  const times = [first, second, ...others].filter((time) => Number.isFinite(time));
  return times.map((time) => (second - first < 60 ? clockText(time) : clockText(time).replace(/:\d\d$/u, '')));
}

export function clockText(seconds: number): string {
  return formatClock(new Date(seconds * 1_000).toISOString(), Date.now());
}
