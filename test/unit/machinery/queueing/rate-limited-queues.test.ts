import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateLimitedQueues } from '../../../../src/machinery/queueing/rate-limited-queues.ts';

function someQueues(): RateLimitedQueues {
  return new RateLimitedQueues({ limit: () => ({ ratePerSecond: 0.1, burst: 1 }), onLength: () => undefined });
}

test('a zone that comes back before its bucket is full gets no token early', () => {
  const queues = someQueues();
  assert.equal(queues.ensure('a', 0).tryTakeToken(0), true);
  queues.forget('a', 1_000);
  queues.dropFullBuckets(5_000);
  assert.equal(queues.ensure('a', 5_000).tryTakeToken(5_000), false);
});

test('a zone that vanished is forgotten when its bucket is full, whether another one vanishes or not', () => {
  const queues = someQueues();
  queues.ensure('a', 0).tryTakeToken(0);
  queues.forget('a', 1_000);
  assert.equal(queues.zonesRemembered, 1);
  queues.dropFullBuckets(10_000);
  assert.equal(queues.zonesRemembered, 0);
});
