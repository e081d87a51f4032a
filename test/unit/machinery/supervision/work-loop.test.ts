import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backOffAtLeast, forget, type WorkOutcome, WorkQueue } from '../../../../src/machinery/queueing/work-queue.ts';
import { WorkLoop } from '../../../../src/machinery/supervision/work-loop.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { RecordingMeter } from '../../../support/fakes.ts';

test('a key whose handler throws is reported, retried with backoff, and does not delay other keys', async () => {
  const clock = new ManualClock();
  const looks: string[] = [];
  const faults: string[] = [];
  let left = 2;
  const loop = new WorkLoop({
    queue: new WorkQueue({ delayMsMin: 100, delayMsMax: 1_000 }),
    clock,
    workersMax: 1,
    handle: (key): Promise<WorkOutcome> => {
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

test('keys are counted, and a key in process shows in the gauges while it is processed', async () => {
  const clock = new ManualClock();
  const meter = new RecordingMeter();
  const of = (metric: string): number | undefined => meter.series.get(`workqueue_${metric}{name="q"}`);
  const tookMs: Record<string, number> = { slow: 5_000, a: 100, b: 100 };
  let retries = 1;
  const loop = new WorkLoop({
    queue: new WorkQueue({ delayMsMin: 100, delayMsMax: 1_000 }),
    clock,
    workersMax: 1,
    handle: async (key): Promise<WorkOutcome> => {
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
  const seen = [of('adds_total'), of('depth'), of('unfinished_work_seconds'), of('longest_running_processor_seconds')];
  assert.deepEqual(seen, [4, 2, 3, 3]);
  await clock.advance(5_000);
  assert.deepEqual([of('depth'), of('unfinished_work_seconds'), of('retries_total')], [0, 0, 1]);
  assert.equal(of('work_duration_seconds')?.toFixed(3), '5.300');
  // slow 0, a 5, b 5.1, and a again, due 100 ms after its first run, which is when b was done.
  assert.equal(of('queue_duration_seconds')?.toFixed(3), '10.100');
  assert.equal(of('adds_total'), 5);
  stop.abort();
  await clock.advance(0);
  await running;
});

/** A loop with this many keys whose handlers await nothing, and the number of processed keys. */
function aBusyLoop(keys: number): {
  readonly clock: ManualClock;
  readonly queue: WorkQueue;
  readonly done: () => number;
  readonly end: () => Promise<void>;
} {
  const clock = new ManualClock();
  const queue = new WorkQueue({ delayMsMin: 100, delayMsMax: 1_000 });
  let done = 0;
  const handle = (): Promise<WorkOutcome> => {
    done += 1;
    return Promise.resolve(forget);
  };
  const measured = { name: 'q', meter: new RecordingMeter() };
  const loop = new WorkLoop({ queue, clock, workersMax: 16, handle, onFault: () => assert.fail(), measured });
  for (let key = 0; key < keys; key++) loop.add(String(key));
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { clock, queue, done: () => done, end };
}

test('handlers that await nothing yield to the event loop, and all keys are processed', async () => {
  const { clock, done, end } = aBusyLoop(5_000);
  await settled();
  assert.ok(done() > 0 && done() < 1_000, `${done()} keys without yielding`);
  await clock.advance(100);
  assert.equal(done(), 5_000);
  await end();
});

test('a loop that runs out of keys does not pause', async () => {
  const { clock, queue, done, end } = aBusyLoop(200);
  await settled();
  for (let key = 0; key < 200; key++) queue.add(`later ${key}`, clock.monotonicMs());
  await clock.advance(60_000); // the end of its idle wait, not a millisecond later
  assert.equal(done(), 400);
  await end();
});

test('due keys are not counted after each key: it would take longer than the processing', async () => {
  const { clock, queue, done, end } = aBusyLoop(0);
  const countDue = queue.countDue.bind(queue);
  let counted = 0;
  queue.countDue = (nowMs) => {
    counted += 1;
    return countDue(nowMs);
  };
  for (let key = 0; key < 5_000; key++) queue.add(String(key), clock.monotonicMs());
  await clock.advance(60_100);
  assert.equal(done(), 5_000);
  assert.ok(counted < 10, `counted ${counted} times`);
  await end();
});
