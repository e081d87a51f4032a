import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessSaturation, burstLimits, steadyLimits } from '../../../bench/side-by-side/assess-saturation.ts';
import type { LoadFigures } from '../../../bench/side-by-side/load-protocol.ts';

const calm: LoadFigures = {
  seconds: 15,
  renewals: 3_000,
  skipped: 0,
  failed: 0,
  lastFailure: undefined,
  lateness: { p50: 1, p99: 4, max: 900 },
  latency: { p50: 2, p99: 30, max: 900 },
};

test('a load on time with quick responses can be reported, whatever its slowest request', () => {
  assert.deepEqual(assessSaturation(calm, steadyLimits), []);
});

test('renewals that are sent late are the fault of the load generator', () => {
  const late = { ...calm, lateness: { p50: 1, p99: 120, max: 200 } };
  assert.deepEqual(assessSaturation(late, steadyLimits), [
    'load generator saturated: renewals sent late, p99 120 ms (at most 100 ms)',
  ]);
  assert.deepEqual(assessSaturation(late, burstLimits), []);
});

test('slow and unanswered renewals are the fault of the API server', () => {
  const slow = { ...calm, latency: { p50: 100, p99: 300, max: 400 }, skipped: 2 };
  assert.deepEqual(assessSaturation(slow, steadyLimits), [
    'API server saturated: renewals took, p99 300 ms (at most 250 ms)',
    'API server saturated: 2 renewals skipped behind an unanswered one',
  ]);
});

test('failed requests are named', () => {
  const failing = { ...calm, failed: 1, lastFailure: 'PUT x: 409' };
  assert.deepEqual(assessSaturation(failing, burstLimits), ['1 requests of the load failed: PUT x: 409']);
});

test('a window without load can be reported', () => {
  const none = { p50: 0, p99: 0, max: 0 };
  assert.deepEqual(assessSaturation({ ...calm, renewals: 0, lateness: none, latency: none }, steadyLimits), []);
});
