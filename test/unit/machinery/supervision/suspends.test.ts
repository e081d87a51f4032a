import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suspends } from '../../../../src/machinery/supervision/suspends.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

async function counted(story: (clock: ManualClock) => Promise<void>): Promise<number> {
  const clock = new ManualClock();
  const stop = new AbortController();
  let count = 0;
  const following = (async () => {
    for await (const _ of suspends(clock, stop.signal)) count += 1;
  })();
  await story(clock);
  stop.abort();
  await following;
  return count;
}

test('a process that runs is not suspended', async () => {
  assert.equal(await counted((clock) => clock.advance(600_000)), 0);
});

test('a suspend of the machine shows on the wall clock only, and counts once', async () => {
  const suspended = async (ms: number): Promise<number> =>
    counted(async (clock) => {
      await clock.advance(12_000);
      clock.jumpWall(ms);
      await clock.advance(60_000);
    });
  assert.equal(await suspended(16_000), 1);
  assert.equal(await suspended(9_000), 0);
  assert.equal(await suspended(-16_000), 0);
});

test('suspends that come one after the other count once a minute, and the last one too', async () => {
  const count = await counted(async (clock) => {
    for (let step = 0; step < 30; step += 1) {
      clock.jumpWall(16_000);
      await clock.advance(20_000);
    }
  });
  assert.equal(count, 10);
  const twice = await counted(async (clock) => {
    clock.jumpWall(16_000);
    await clock.advance(10_000);
    clock.jumpWall(16_000);
    await clock.advance(120_000);
  });
  assert.equal(twice, 2);
});

test('a stop of the process shows on both clocks: its timer ends late', async () => {
  const late = new ManualClock();
  const clock = {
    nowMs: () => late.nowMs(),
    monotonicMs: () => late.monotonicMs(),
    sleep: (ms: number, signal: AbortSignal) => late.sleep(ms + 20_000, signal),
  };
  const stop = new AbortController();
  const first = suspends(clock, stop.signal).next();
  await late.advance(25_001);
  assert.deepEqual(await first, { done: false, value: undefined });
});
