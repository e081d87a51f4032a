import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { PQueueLanes } from '../../../src/adapters/p-queue-lanes.ts';
import { ApiError } from '../../../src/api/api-error.ts';
import type { WriteLane } from '../../../src/ports/write-lanes.ts';

const laneOrder: readonly WriteLane[] = ['untaint', 'status', 'no-execute', 'other'];

test('law: with one at a time, waiting writes go by lane, and within a lane in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...laneOrder), { maxLength: 30 }), async (lanes) => {
      const queue = new PQueueLanes({ concurrencyMax: 1 });
      const gate = Promise.withResolvers<void>();
      const order: string[] = [];
      const writes = lanes.map((lane, index) => queue.run(lane, async () => void order.push(`${lane} ${index}`)));
      const blocked = queue.run('other', () => gate.promise);
      gate.resolve();
      await Promise.all([blocked, ...writes]);
      // The first one starts before any other is there to wait beside it.
      const [first, ...waited] = lanes.map((lane, index) => ({ lane, text: `${lane} ${index}` }));
      const sorted = waited.sort((a, b) => laneOrder.indexOf(a.lane) - laneOrder.indexOf(b.lane));
      assert.deepEqual(
        order,
        [first, ...sorted].flatMap((write) => write?.text ?? []),
      );
    }),
    { numRuns: 50 },
  );
});

test('never more at once than allowed; pending counts those that wait too', async () => {
  const queue = new PQueueLanes({ concurrencyMax: 3 });
  const gate = Promise.withResolvers<void>();
  let running = 0;
  let runningMost = 0;
  const writes = Array.from({ length: 10 }, () =>
    queue.run('status', async () => {
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

test('a result and a failure reach the one who asked, and the rest goes on', async () => {
  const queue = new PQueueLanes({ concurrencyMax: 1 });
  const failing = queue.run('status', () => Promise.reject(new ApiError({ reason: 'conflict', message: 'no' })));
  const fine = queue.run('status', () => Promise.resolve(42));
  await assert.rejects(failing, (error) => error instanceof ApiError && error.reason === 'conflict');
  assert.equal(await fine, 42);
});

test('nothing waits: drained at once', async () => {
  await new PQueueLanes({ concurrencyMax: 1 }).drained();
});

test('beyond the limit a write is refused, with when to come again, and not run', async () => {
  const queue = new PQueueLanes({ concurrencyMax: 1, waitingMax: 1 });
  const gate = Promise.withResolvers<void>();
  const running = queue.run('other', () => gate.promise);
  const waiting = queue.run('other', () => Promise.resolve());
  let ran = false;
  const refused = queue.run('untaint', async () => {
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
