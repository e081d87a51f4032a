import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { PQueueLanes } from '../../../../src/machinery/adapters/p-queue-lanes.ts';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import { type WriteLane, writeLanes as lanes } from '../../../../src/machinery/ports/write-lanes.ts';

test('property: with a concurrency of one the writes of a lane run in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...lanes), { maxLength: 30 }), async (wanted) => {
      const queue = new PQueueLanes({ concurrencyMax: 1 });
      const order: { readonly lane: WriteLane; readonly index: number }[] = [];
      await Promise.all(wanted.map((lane, index) => queue.run(lane, async () => void order.push({ lane, index }))));
      for (const lane of lanes) {
        const ran = order.filter((write) => write.lane === lane).map(({ index }) => index);
        assert.deepEqual(
          ran,
          [...ran].sort((a, b) => a - b),
        );
      }
      assert.equal(order.length, wanted.length);
    }),
    { numRuns: 50 },
  );
});

test('of the writes that wait, the greatest precedence is next, and of these the oldest', async () => {
  const queue = new PQueueLanes({ concurrencyMax: 1 });
  const order: string[] = [];
  const run = (name: string, precedence?: number): Promise<void> =>
    queue.run('detection', async () => void order.push(name), precedence);
  await Promise.all([run('in flight'), run('a'), run('b', 1), run('c'), run('d', 2), run('e', 1)]);
  assert.deepEqual(order, ['in flight', 'd', 'b', 'e', 'a', 'c']);
});

test('a lane without free slots does not delay other lanes', async () => {
  const queue = new PQueueLanes({ concurrencyMax: 2 });
  const gate = Promise.withResolvers<void>();
  const held = [1, 2, 3].map(() => queue.run('housekeeping', () => gate.promise));
  for (const lane of ['recovery', 'detection', 'tainting', 'eviction'] as const) {
    assert.equal(await queue.run(lane, () => Promise.resolve(lane)), lane);
  }
  gate.resolve();
  await Promise.all(held);
});

test('concurrency is never exceeded; pending includes queued writes', async () => {
  const queue = new PQueueLanes({ concurrencyMax: 3 });
  const gate = Promise.withResolvers<void>();
  let running = 0;
  let runningMost = 0;
  const writes = Array.from({ length: 10 }, () =>
    queue.run('detection', async () => {
      running += 1;
      runningMost = Math.max(runningMost, running);
      await gate.promise;
      running -= 1;
    }),
  );
  await Promise.resolve();
  assert.equal(queue.pending, 10);
  gate.resolve();
  await queue.drained();
  assert.equal(queue.pending, 0);
  assert.equal(runningMost, 3);
  await Promise.all(writes);
});

test('results and failures are returned to the caller, and other writes continue', async () => {
  const queue = new PQueueLanes({ concurrencyMax: 1 });
  const failing = queue.run('detection', () => Promise.reject(new ApiError({ reason: 'conflict', message: 'no' })));
  const fine = queue.run('detection', () => Promise.resolve(42));
  await assert.rejects(failing, (error) => error instanceof ApiError && error.reason === 'conflict');
  assert.equal(await fine, 42);
});

test('an empty queue is drained at once', async () => {
  await new PQueueLanes({ concurrencyMax: 1 }).drained();
});

test('beyond the limit a write is rejected with Retry-After and not run', async () => {
  const queue = new PQueueLanes({ concurrencyMax: 1, waitingMax: 1 });
  const gate = Promise.withResolvers<void>();
  const running = queue.run('housekeeping', () => gate.promise);
  const waiting = queue.run('housekeeping', () => Promise.resolve());
  let ran = false;
  const refused = queue.run('housekeeping', async () => {
    ran = true;
  });
  await assert.rejects(
    refused,
    (error) => error instanceof ApiError && error.reason === 'too-many-requests' && error.retryAfterMs === 1_000,
  );
  gate.resolve();
  await Promise.all([running, waiting]);
  assert.equal(ran, false);
});
