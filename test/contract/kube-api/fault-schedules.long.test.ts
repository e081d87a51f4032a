// After any faults between an informer and the API server have ended, the informer's store equals the server's state, its
// handlers have received exactly the changes that lead to it, and no resources are leaked. A hundred seeded schedules of
// faults; FAULT_SEED=<number> runs one of them.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Lived } from '../../support/fault-world.ts';

const seedsAll = 100;
/** Seeds per worker thread. */
const seedsTogether = 20;
/** Maximum number of threads, so that other processes on the machine can run. */
const threadsMax = 4;

const one = process.env['FAULT_SEED'];
const sums = new Map<string, number>();

/** A separate thread: the test runner tracks every promise on its own thread, which takes a third of the time. */
function liveInThread(seeds: readonly number[]): Promise<Lived> {
  const { promise, resolve, reject } = Promise.withResolvers<Lived>();
  const worker = new Worker(new URL('../../support/fault-world.ts', import.meta.url), { workerData: seeds });
  worker.once('message', resolve);
  // Also receives unhandled rejections.
  worker.once('error', reject);
  worker.once('exit', (code) => reject(new Error(`the thread of seeds ${seeds.join()} ended with ${code}`)));
  return promise;
}

async function assertSettles(seeds: readonly number[]): Promise<void> {
  const lived = await liveInThread(seeds);
  for (const [kind, sum] of lived.sums) sums.set(kind, (sums.get(kind) ?? 0) + sum);
  assert.deepEqual(lived.failures, []);
}

if (one !== undefined) {
  test(`schedule ${one}: stores equal the server`, () => assertSettles([Number(one)]));
} else {
  describe('stores equal the server after', { concurrency: Math.min(availableParallelism(), threadsMax) }, () => {
    for (let first = 1; first <= seedsAll; first += seedsTogether) {
      const seeds = Array.from({ length: seedsTogether }, (_, index) => first + index);
      test(`schedules ${first} to ${seeds.at(-1)}`, () => assertSettles(seeds));
    }
  });

  test('every kind of fault occurred', () => {
    // Without `brief`: a watch that ends within its first 40 ms is rare on a loaded machine; unit tests cover it.
    const ends = ['expired', 'guard', 'internal', 'invalid', 'lost', 'timeout', 'too-many-requests', 'unavailable'];
    const kinds = [
      ...ends.map((reason) => `reflector_watch_errors_total{reason="${reason}"}`),
      'reflector_relists_total{cause="expired"}',
      'reflector_stale_events_total{}',
      ...[429, 500, 503].map((code) => `rest_client_request_retries_total{code="${code}",verb="GET"}`),
    ];
    const left = kinds.filter((kind) => sums.get(kind) === undefined);
    assert.deepEqual(left, [], [...sums.keys()].join('\n'));
  });
}
