import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forget, type Outcome, WorkQueue } from '../../../src/queueing/work-queue.ts';
import { WorkLoop } from '../../../src/supervision/work-loop.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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
