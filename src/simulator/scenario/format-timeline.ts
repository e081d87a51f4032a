// The report of a simulation as one self-contained HTML page with an SVG timeline: nodes that are not ready by zone,
// NoExecute taints and pod deletions per interval, requests per second.
import { describeResult } from './describe-result.ts';
import type { Interval, ScenarioResult } from './scenario-result.ts';

const width = 960;
const panelHeight = 130;
const left = 60;
const gap = 34;
const colours = ['#c0392b', '#2980b9', '#27ae60', '#8e44ad', '#d35400', '#16a085'] as const;

interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}

/** With a second run both have the same panels, one below the other. */
export function formatTimeline(result: ScenarioResult, against: ScenarioResult | undefined): string {
  const runs =
    against === undefined
      ? [{ label: '', run: result }]
      : [
          { label: `A: ${result.settings.join(' ') || 'defaults'}`, run: result },
          { label: `B: ${against.settings.join(' ') || 'defaults'}`, run: against },
        ];
  const charts = runs.map(({ label, run }) => `<h2>${escape(label)}</h2>\n${chart(run)}`).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escape(result.name)}</title>
<style>
body { font: 14px system-ui, sans-serif; margin: 2em auto; max-width: ${width + 40}px; color: #222; background: #fff; }
pre { overflow-x: auto; background: #f6f6f6; padding: 1em; }
svg text { font: 11px system-ui, sans-serif; fill: #444; }
</style>
</head>
<body>
<h1>${escape(result.name)}</h1>
${charts}
<pre>${escape(describeResult(result, against))}</pre>
</body>
</html>
`;
}

function chart(run: ScenarioResult): string {
  const panels = panelsOf(run);
  const height = panels.length * (panelHeight + gap) + gap;
  const drawn = panels.map((panel, index) => drawPanel(panel, index * (panelHeight + gap) + gap / 2, run));
  return `<svg viewBox="0 0 ${width} ${height}" width="100%" role="img">\n${drawn.join('\n')}\n</svg>`;
}

function panelsOf({ zones, intervals, intervalMs }: ScenarioResult): readonly Panel[] {
  const perSecond = (value: number): number => value / (intervalMs / 1_000);
  const each = (of: (interval: Interval) => number): readonly number[] => intervals.map(of);
  return [
    {
      title: 'nodes not ready',
      series: zones.map((zone) => ({ name: `zone ${zone}`, values: each(({ notReady }) => notReady[zone] ?? 0) })),
    },
    {
      title: `NoExecute taints and deleted pods, per ${intervalMs / 1_000} s`,
      series: [
        { name: 'NoExecute taints', values: each(({ noExecute }) => noExecute) },
        { name: 'deleted pods', values: each(({ deletions }) => deletions) },
      ],
    },
    {
      title: 'requests of the controller per second',
      series: [
        { name: 'all', values: each(({ requests }) => perSecond(requests)) },
        { name: 'writes', values: each(({ writes }) => perSecond(writes)) },
      ],
    },
  ];
}

function drawPanel({ title, series }: Panel, top: number, { durationMs, intervalMs }: ScenarioResult): string {
  const highest = Math.max(1, ...series.flatMap(({ values }) => values));
  const x = (index: number): number => left + ((index * intervalMs) / durationMs) * (width - left - 10);
  const y = (value: number): number => top + panelHeight - (value / highest) * panelHeight;
  const lines = series.map(({ values }, index) => {
    const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    return `<polyline fill="none" stroke="${colourOf(index)}" stroke-width="1.5" points="${points}"/>`;
  });
  const legend = series.map(
    ({ name }, index) =>
      `<text x="${left + 260 + index * 130}" y="${top - 4}" style="fill:${colourOf(index)}">${escape(name)}</text>`,
  );
  const minutes = Math.floor(durationMs / 60_000);
  const every = Math.max(1, Math.ceil(minutes / 12));
  const ticks = Array.from({ length: Math.floor(minutes / every) + 1 }, (_, index) => {
    const at = x((index * every * 60_000) / intervalMs).toFixed(1);
    return `<text x="${at}" y="${top + panelHeight + 12}">${index * every}m</text>`;
  });
  return [
    `<text x="${left}" y="${top - 4}" style="font-weight:600">${escape(title)}</text>`,
    `<rect x="${left}" y="${top}" width="${width - left - 10}" height="${panelHeight}" fill="none" stroke="#ddd"/>`,
    `<text x="${left - 6}" y="${top + 10}" text-anchor="end">${Math.round(highest * 10) / 10}</text>`,
    `<text x="${left - 6}" y="${top + panelHeight}" text-anchor="end">0</text>`,
    ...lines,
    ...legend,
    ...ticks,
  ].join('\n');
}

function colourOf(index: number): string {
  return colours[index % colours.length] ?? colours[0];
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
