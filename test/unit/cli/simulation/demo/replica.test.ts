import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerProcess } from '../../../../../src/cli/controller/process.ts';
import { DemoReplica } from '../../../../../src/cli/simulation/demo/replica.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

/** A process that runs until its signal aborts or it is ended. */
function stand() {
  const clock = new ManualClock();
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const make = (identity: string): ControllerProcess => {
    const process = {
      manager: { mayWrite: () => true },
      run: (signal: AbortSignal) => {
        started.push(identity);
        const ended = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => ended.resolve());
        ends.push(ended.resolve);
        return ended.promise;
      },
    };
    return process as unknown as ControllerProcess;
  };
  const life = new AbortController();
  const replica = new DemoReplica({ name: 'demo-1', clock, make });
  return { clock, started, ends, replica, life, running: replica.run(life.signal) };
}

test('a process that ends by itself is started again after a second, with another identity', async () => {
  const { clock, started, ends, replica, life, running } = stand();
  assert.deepEqual([replica.leads, started], [true, ['demo-1_1']]);
  ends[0]?.();
  await clock.advance(999);
  assert.deepEqual([replica.leads, started.length], [false, 1]);
  await clock.advance(1);
  assert.deepEqual([replica.leads, started], [true, ['demo-1_1', 'demo-1_2']]);
  life.abort();
  await running;
});

test('a process that was stopped is started again after its time', async () => {
  const { clock, started, replica, life, running } = stand();
  replica.stop(15_000);
  await clock.advance(14_999);
  assert.deepEqual([replica.leads, started.length], [false, 1]);
  await clock.advance(1);
  assert.equal(started.length, 2);
  life.abort();
  await running;
});

test('or at once', async () => {
  const { clock, started, ends, replica, life, running } = stand();
  replica.stop(15_000);
  await clock.advance(1_000);
  replica.start();
  await clock.advance(0);
  assert.equal(started.length, 2);
  // Also if it has not ended yet.
  replica.stop(15_000);
  replica.start();
  await clock.advance(0);
  assert.equal(started.length, 3);
  // While it runs there is nothing to start, and nothing changes for its next end.
  replica.start();
  ends[2]?.();
  await clock.advance(999);
  assert.equal(started.length, 3);
  life.abort();
  await running;
});
