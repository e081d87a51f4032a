import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildReportTrends } from '../../../../src/dashboard/report/build-report-trends.ts';

test('counts of an interval become rates', () => {
  const trends = buildReportTrends({
    label: '',
    settings: '',
    nodes: [],
    states: [],
    changes: [],
    zoneChanges: [],
    sampleMs: 10_000,
    samples: [
      [0, 0, 0, 0, 50],
      [10_000, 7, 1, 3, 20],
    ],
    timeline: [],
    limits: [],
  });
  assert.deepEqual(
    trends.map(({ unit, series }) => [unit, series[0]?.values]),
    [
      ['', [0, 7]],
      ['/min', [0, 6]],
      ['/min', [0, 18]],
      ['/s', [5, 2]],
    ],
  );
});
