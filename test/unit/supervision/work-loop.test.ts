import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backOffAtLeast, forget, type Outcome, WorkQueue } from '../../../src/queueing/work-queue.ts';
import { WorkLoop } from '../../../src/supervision/work-loop.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { KeepingMeter } from '../../support/quiet.ts';

test('a look that throws is told, is tried again with backoff, and keeps nobody else waiting', async () => {
  const clock = new ManualClock();
  const looks: string[] = [];
  const faults: string[] = [];
  let left = 2;
  const loop = new WorkLoop({
    queue: new WorkQueue({ delayMsMin: 100, delayMsMax: 1_000 }),
    clock,
    workersMax: 1,
    handle: (key): Promise<Outcome> => {
      looks.push(key);
      if (key === 'poisoned' && left-- > 0) throw new TypeError('no such thing');
      return Promise.resolve(forget);
    },
    onFault: (key, error) => {
      faults.push(`${key}: ${String(error)}`);
    },
  });
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  loop.add('poisoned');
  loop.add('well');
  await clock.advance(90);
  assert.deepEqual(looks, ['poisoned', 'well']);
  await clock.advance(1_000);
  assert.deepEqual(looks, ['poisoned', 'well', 'poisoned', 'poisoned']);
  assert.deepEqual(faults, Array(2).fill('poisoned: TypeError: no such thing'));
  stop.abort();
  await clock.advance(0);
  await running;
});

test('what goes through it is counted, and work that does not end shows while it goes on', async () => {
  const clock = new ManualClock();
  const meter = new KeepingMeter();
  const of = (metric: string): number | undefined => meter.series.get(`workqueue_${metric}{name="q"}`);
  const tookMs: Record<string, number> = { slow: 5_000, a: 100, b: 100 };
  let retries = 1;
  const loop = new WorkLoop({
    queue: new WorkQueue({ delayMsMin: 100, delayMsMax: 1_000 }),
    clock,
    workersMax: 1,
    handle: async (key): Promise<Outcome> => {
      await clock.sleep(tookMs[key] ?? 0, new AbortController().signal);
      return key === 'a' && retries-- > 0 ? backOffAtLeast(undefined) : forget;
    },
    onFault: () => assert.fail(),
    measured: { name: 'q', meter },
  });
  assert.deepEqual([of('depth'), of('unfinished_work_seconds')], [0, 0]);
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  for (const key of ['slow', 'a', 'a', 'b']) loop.add(key);
  loop.add('later', 60_000);
  await clock.advance(3_200);
  assert.deepEqual(
    [of('adds_total'), of('depth'), of('unfinished_work_seconds'), of('longest_running_processor_seconds')],
    [4, 2, 3, 3],
  );
  await clock.advance(5_000);
  assert.deepEqual([of('depth'), of('unfinished_work_seconds'), of('retries_total')], [0, 0, 1]);
  assert.equal(of('work_duration_seconds')?.toFixed(3), '5.300');
  // slow 0, a 5, b 5.1, and a again, due 100 ms after its first look, which is when b was done.
  assert.equal(of('queue_duration_seconds')?.toFixed(3), '10.100');
  assert.equal(of('adds_total'), 5);
  stop.abort();
  await clock.advance(0);
  await running;
});
