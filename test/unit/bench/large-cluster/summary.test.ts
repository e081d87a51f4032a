import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Course } from '../../../bench/large-cluster/course.ts';
import { coursePanels, formatSummary } from '../../../bench/large-cluster/summary.ts';

const course: Course = {
  nodes: 1_000,
  pods: 10_000,
  rate: 100,
  syncedAtSeconds: 2,
  measuredFromSeconds: 10,
  peakRssMb: 300,
  samples: [
    { atSeconds: 1, cores: 1, rssMb: 250 },
    { atSeconds: 11, cores: 0.1, rssMb: 200 },
    { atSeconds: 12, cores: 0.3, rssMb: 210 },
  ],
  loop: [
    { atSeconds: 1, maxMs: 900, p99Ms: 100 },
    { atSeconds: 11, maxMs: 5, p99Ms: 2 },
  ],
  lags: [{ atSeconds: 11, lagMs: 7 }],
  stub: { renewals: 200, behindMax: 3, unexpected: { 'GET /x': 2 } },
};

test('CPU, memory and delays are those after the start', () => {
  const summary = formatSummary(course);
  assert.match(summary, /CPU \| 0\.20 of a core, 2000\.0 µs per renewal/u);
  assert.match(summary, /RSS, median \| 200 MB/u);
  assert.match(summary, /event loop delay[^|]* \| 5\.0 ms \/ 5\.0 ms/u);
  assert.match(summary, /\| 2 x GET \/x \|/u);
});

test('the chart shows the whole course', () => {
  const [cpu] = coursePanels(course);
  assert.equal(cpu!.lines[0]!.points.length, 3);
});
