// Charts as SVG: one panel below the other, or in two columns, each with a few lines. No library: points on a linear or
// logarithmic scale, ticks and a legend.

interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Axis {
  readonly label: string;
  readonly scale: 'linear' | 'log';
  /** Values with a tick; on a linear axis they are chosen if not given. */
  readonly ticks?: readonly number[];
}

export interface Panel {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
}

interface Range {
  readonly from: number;
  readonly to: number;
}

const panelWidth = 460;
const panelHeight = 220;
const margin = { left: 60, right: 14, top: 40, bottom: 38 } as const;
const colours = ['#2563eb', '#ea580c', '#059669', '#7c3aed'] as const;
const ticksWanted = 5;

/** A standalone SVG document with these panels. Values that cannot be drawn on a logarithmic scale are left out. */
export function formatChart(panels: readonly Panel[], columns = 2): string {
  const across = Math.min(columns, Math.max(1, panels.length));
  const width = across * panelWidth;
  const height = Math.ceil(panels.length / across) * panelHeight;
  const drawn = panels.map((panel, index) => {
    const left = (index % across) * panelWidth;
    const top = Math.floor(index / across) * panelHeight;
    return `<g transform="translate(${left} ${top})">\n${drawPanel(panel)}\n</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    '<style>text { font: 11px system-ui, sans-serif; fill: #444 }</style>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function drawPanel(panel: Panel): string {
  const lines = panel.lines.map(({ name, points }) => ({
    name,
    points: points.filter(({ x, y }) => fits(x, panel.x) && fits(y, panel.y)),
  }));
  const all = lines.flatMap(({ points }) => points);
  const xRange = rangeOf(
    all.map(({ x }) => x),
    panel.x,
  );
  const yRange = rangeOf(
    all.map(({ y }) => y),
    panel.y,
  );
  const bottom = panelHeight - margin.bottom;
  const right = panelWidth - margin.right;
  const x = (value: number): string => project(value, panel.x, xRange, { from: margin.left, to: right });
  const y = (value: number): string => project(value, panel.y, yRange, { from: bottom, to: margin.top });
  return [
    `<text x="${margin.left}" y="14" style="font-weight:600">${escape(panel.title)}</text>`,
    `<text x="${(margin.left + right) / 2}" y="${panelHeight - 6}" text-anchor="middle">${escape(panel.x.label)}</text>`,
    `<text x="${margin.left}" y="${margin.top - 6}">${escape(panel.y.label)}</text>`,
    ...ticksOf(panel.x, xRange).map(
      (tick) => `<text x="${x(tick)}" y="${bottom + 14}" text-anchor="middle">${formatTick(tick)}</text>`,
    ),
    ...ticksOf(panel.y, yRange).map((tick) => gridLine(y(tick), right, formatTick(tick))),
    ...lines.map(({ points }, index) => drawLine(points, { x, y, colour: colourOf(index) })),
    ...lines.map(({ name }, index) => drawName(name, right - 150 * (lines.length - 1 - index), colourOf(index))),
  ].join('\n');
}

function gridLine(y: string, right: number, label: string): string {
  return (
    `<line x1="${margin.left}" x2="${right}" y1="${y}" y2="${y}" stroke="#e5e7eb"/>` +
    `<text x="${margin.left - 6}" y="${y}" dy="4" text-anchor="end">${label}</text>`
  );
}

interface Pen {
  readonly x: (value: number) => string;
  readonly y: (value: number) => string;
  readonly colour: string;
}

/** Few points are measurements and have a dot each; many are a course over time. */
const dotsMax = 12;

function drawLine(points: readonly Point[], { x, y, colour }: Pen): string {
  const path = points.map((point) => `${x(point.x)},${y(point.y)}`).join(' ');
  const dots = points.length > dotsMax ? [] : points;
  return [
    `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${path}"/>`,
    ...dots.map((point) => drawDot(x(point.x), y(point.y), colour)),
  ].join('');
}

function drawDot(x: string, y: string, colour: string): string {
  return `<path d="M${x} ${y}h0" stroke="${colour}" stroke-width="5" stroke-linecap="round"/>`;
}

function drawName(name: string, right: number, colour: string): string {
  return `<text x="${right}" y="${margin.top - 6}" text-anchor="end" style="fill:${colour}">${escape(name)}</text>`;
}

function colourOf(index: number): string {
  return colours[index % colours.length] ?? colours[0];
}

function fits(value: number, { scale }: Axis): boolean {
  return Number.isFinite(value) && (scale === 'linear' || value > 0);
}

/** On a linear scale from 0; on a logarithmic one from and to a power of ten unless ticks are given. */
function rangeOf(values: readonly number[], { scale, ticks = [] }: Axis): Range {
  const all = [...values, ...ticks];
  const highest = Math.max(...all, Number.MIN_VALUE);
  if (scale === 'linear') return { from: 0, to: all.length === 0 || highest <= 0 ? 1 : highest };
  if (all.length === 0) return { from: 1, to: 10 };
  const lowest = Math.min(...all);
  if (ticks.length > 0) return { from: lowest * 0.9, to: highest * 1.1 };
  const from = 10 ** Math.floor(Math.log10(lowest));
  return { from, to: Math.max(from * 10, 10 ** Math.ceil(Math.log10(highest))) };
}

function ticksOf({ scale, ticks }: Axis, { from, to }: Range): readonly number[] {
  if (ticks !== undefined) return ticks;
  if (scale === 'linear') return linearTicks(to);
  const powers = Math.round(Math.log10(to / from));
  return Array.from({ length: powers + 1 }, (_, power) => from * 10 ** power);
}

/** Multiples of 1, 2 or 5 times a power of ten. */
function linearTicks(to: number): readonly number[] {
  const rough = to / ticksWanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(to / step + 1e-9) + 1 }, (_, index) => index * step);
}

function project(value: number, { scale }: Axis, range: Range, onto: Range): string {
  const at = (number: number): number => (scale === 'log' ? Math.log10(number) : number);
  const share = (at(value) - at(range.from)) / (at(range.to) - at(range.from));
  return (onto.from + share * (onto.to - onto.from)).toFixed(1);
}

function formatTick(value: number): string {
  return value >= 1_000 ? value.toLocaleString('en') : String(Number(value.toPrecision(3)));
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
