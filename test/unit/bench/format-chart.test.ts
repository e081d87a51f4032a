import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatChart, type Panel } from '../../bench/format-chart.ts';

const growth: Panel = {
  title: 'RSS & heap',
  x: { label: 'nodes', scale: 'log', ticks: [500, 5_000] },
  y: { label: 'MB', scale: 'log' },
  lines: [
    {
      name: 'nlc',
      points: [
        { x: 500, y: 10 },
        { x: 5_000, y: 100 },
      ],
    },
    {
      name: 'other',
      points: [
        { x: 500, y: 0 },
        { x: 5_000, y: 1_000 },
      ],
    },
  ],
};

function pointsOf(svg: string): readonly (readonly (readonly number[])[])[] {
  return [...svg.matchAll(/<polyline[^>]* points="([^"]*)"/gu)].map(([, text = '']) =>
    text.split(' ').map((point) => point.split(',').map(Number)),
  );
}

test('a logarithmic panel draws equal ratios as equal distances and leaves out zero', () => {
  const svg = formatChart([growth]);
  const [nlc = [], other = []] = pointsOf(svg);
  assert.equal(other.length, 1);
  const [first = [], last = []] = nlc;
  const [top = []] = other;
  assert.ok(first[0]! < last[0]! && first[1]! > last[1]!);
  assert.ok(Math.abs(last[1]! - top[1]! - (first[1]! - last[1]!)) < 0.2);
});

test('titles are escaped, and ticks have a thousands separator', () => {
  const svg = formatChart([growth]);
  assert.match(svg, /RSS &amp; heap/u);
  assert.match(svg, />5,000</u);
  assert.match(svg, /^<svg xmlns=[^>]* viewBox="0 0 460 220"/u);
});

test('a linear panel begins at 0 and has round ticks', () => {
  const points = Array.from({ length: 50 }, (_, index) => ({ x: index, y: index * 6 }));
  const panel: Panel = {
    title: 'delay',
    x: { label: 's', scale: 'linear' },
    y: { label: 'ms', scale: 'linear' },
    lines: [{ name: 'max', points }],
  };
  const svg = formatChart([panel]);
  for (const tick of [0, 100, 200]) assert.ok(svg.includes(`>${tick}<`), `no tick ${tick}`);
  assert.doesNotMatch(svg, /<path/u);
  assert.doesNotMatch(svg, /NaN|Infinity/u);
});

test('panels without points and without lines are drawn empty', () => {
  const empty = { ...growth, lines: [{ name: 'nlc', points: [] }] };
  const none: Panel = { ...growth, y: { label: 'MB', scale: 'linear' }, lines: [] };
  const svg = formatChart([empty, none, growth]);
  assert.doesNotMatch(svg, /NaN|Infinity/u);
  assert.match(svg, /viewBox="0 0 920 440"/u);
});
