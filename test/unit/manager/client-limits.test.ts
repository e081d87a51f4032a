import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventLimits } from '../../../src/manager/client-limits.ts';

test('Events have half of the limits of other requests, and never less than those of the default', () => {
  assert.deepEqual(eventLimits({ qps: 20, burst: 30 }), { qps: 10, burst: 20 });
  assert.deepEqual(eventLimits({ qps: 1, burst: 1 }), { qps: 10, burst: 20 });
  assert.deepEqual(eventLimits({ qps: 1_000, burst: 2_001 }), { qps: 500, burst: 1_000 });
});
