// Whatever happens on the way to the API server: once it is over, an informer's store equals the server's state, its
// listeners have heard exactly the changes that lead there, and nothing is left behind. Two hundred schedules of faults by
// seed; a number in FAULT_SEED runs that one alone.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Lived } from '../../support/fault-world.ts';

const seedsAll = 200;
/** As many share a thread. */
const seedsTogether = 20;
/** No more: the rest of the machine has work to do too. */
const threadsMax = 4;

const one = process.env['FAULT_SEED'];
const sums = new Map<string, number>();

/** A thread of its own: the test runner follows every promise on its own thread, and that takes a third of the time. */
function liveInThread(seeds: readonly number[]): Promise<Lived> {
  const { promise, resolve, reject } = Promise.withResolvers<Lived>();
  const worker = new Worker(new URL('../../support/fault-world.ts', import.meta.url), { workerData: seeds });
  worker.once('message', resolve);
  // An unhandled rejection ends up here, too.
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

  test('every sort of fault was met', () => {
    const ends = [
      'brief',
      'expired',
      'guard',
      'internal',
      'invalid',
      'lost',
      'timeout',
      'too-many-requests',
      'unavailable',
    ];
    const kinds = [
      ...ends.map((reason) => `reflector_watch_errors_total{reason="${reason}"}`),
      'reflector_relists_total{cause="expired"}',
      'reflector_stale_events_total{}',
      ...[429, 500, 503].map((code) => `rest_client_request_retries_total{code="${code}",verb="GET"}`),
    ];
    assert.deepEqual(
      kinds.filter((kind) => sums.get(kind) === undefined),
      [],
      [...sums.keys()].join('\n'),
    );
  });
}
