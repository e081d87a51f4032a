import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildTrends,
  buildTrendTimes,
  describeTrend,
  formatTrendValue,
} from '../../../../src/dashboard/trends/build-trends.ts';
import { sample } from '../../../support/dashboard-snapshots.ts';

const samples = [
  sample({ at: '2026-11-24T12:00:00Z', silent: 0, evictions: 10, heartbeatP50: null, heartbeatP99: null }),
  sample({ at: '2026-11-24T12:00:05Z', silent: 340, requests: 25 }),
  sample({ at: '2026-11-24T12:00:10Z', silent: 12, requests: null }),
];
const times = buildTrendTimes(samples);
const clock = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(11, 19);

test('counts become rates per second', () => {
  const [silent, evictions, requests] = buildTrends(samples, 5);
  assert.deepEqual(silent?.series[0]?.values, [0, 340, 12]);
  assert.deepEqual(evictions?.series[0]?.values, [2, 0, 0]);
  assert.deepEqual(requests?.series[0]?.values, [0, 5, null]);
});

test('a plot in words: last value, range, time of the maximum', () => {
  const texts = buildTrends(samples, 5).map((trend) => describeTrend(trend, times, clock));
  assert.equal(texts[0], 'Silent nodes: now 12, lowest 0, highest 340 at 12:00:05.');
  assert.equal(texts[1], 'Evictions per second: now 0/s, lowest 0/s, highest 2/s at 12:00:00.');
  assert.equal(texts[3], 'Heartbeat age p50: now 4s, constant. Heartbeat age p99: now 9s, constant.');
});

test('a value that is not known is a dash', () => {
  const [trend] = buildTrends([], 5);
  assert.ok(trend !== undefined);
  assert.equal(describeTrend(trend, [], clock), 'Silent nodes: no value yet.');
  assert.deepEqual(
    [null, undefined, 3].map((value) => formatTrendValue(value, trend)),
    ['–', '–', '3'],
  );
});
