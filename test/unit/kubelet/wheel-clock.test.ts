import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Lateness } from '../../../src/kubelet/lateness.ts';
import { WheelClock, wheelTickMs } from '../../../src/kubelet/wheel-clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { KeepingLogger } from '../../support/quiet.ts';

describe('a clock with one wheel for all who sleep', () => {
  let manual: ManualClock;
  let logger: KeepingLogger;
  let clock: WheelClock;
  let life: AbortController;

  beforeEach(() => {
    manual = new ManualClock();
    logger = new KeepingLogger();
    clock = new WheelClock({ clock: manual, logger });
    life = new AbortController();
  });

  async function sleeper(ms: number): Promise<number> {
    const startMs = clock.monotonicMs();
    await clock.sleep(ms, life.signal);
    return clock.monotonicMs() - startMs;
  }

  it('wakes each when it is time, with one sleep of the clock below', async () => {
    const slept = [25, 5, 12_345, 999].map((ms) => sleeper(ms));
    await manual.advance(0);
    assert.equal(manual.sleeping, 1);
    assert.equal(clock.sleeping, 4);
    await manual.advance(20_000);
    const times = await Promise.all(slept);
    for (const [index, ms] of [25, 5, 12_345, 999].entries()) {
      const late = (times[index] ?? 0) - ms;
      assert.ok(late >= 0 && late <= wheelTickMs, `${ms} ms took ${times[index]}`);
    }
    assert.equal(manual.sleeping, 0, 'with nobody asleep it rests');
  });

  it('wakes who sleeps for less, though somebody sleeps for longer', async () => {
    void sleeper(60_000);
    await manual.advance(1_005);
    const short = sleeper(30);
    await manual.advance(30 + wheelTickMs);
    assert.ok((await short) <= 30 + wheelTickMs);
    life.abort();
    await manual.advance(0);
  });

  it('lets everybody go when the signal aborts, and keeps nothing', async () => {
    const slept = [10, 1_000, 100_000].map((ms) => sleeper(ms));
    await manual.advance(0);
    life.abort();
    assert.deepEqual(await Promise.all(slept), [0, 0, 0]);
    await manual.advance(0);
    assert.equal(clock.sleeping + manual.sleeping, 0);
    await clock.sleep(10, life.signal);
    await clock.sleep(-1, new AbortController().signal);
  });

  it('goes on in later turns where too many wake at once, and loses none', async () => {
    let woken = 0;
    const slept = Array.from({ length: 5_000 }, () => sleeper(100).then(() => (woken += 1)));
    await manual.advance(100);
    assert.equal(woken, 2_000);
    await manual.advance(1);
    assert.equal(woken, 4_000);
    await manual.advance(1);
    await Promise.all(slept);
    assert.equal(woken, 5_000);
  });

  it('tells how late it was, and of a standstill', async () => {
    const slept = sleeper(100);
    await manual.advance(0);
    manual.stall(1_100);
    await manual.advance(1);
    await slept;
    assert.equal(clock.lateness.count, 1);
    assert.equal(clock.lateness.maxMs, 1_000);
    assert.deepEqual(logger.lines, [
      { level: 'warn', fields: { stalledMs: 1_000 }, message: 'the process stood still' },
    ]);
  });
});

describe('lateness', () => {
  it('is valid as long as no more than one in a hundred is over a second', () => {
    const lateness = new Lateness();
    assert.equal(lateness.p99Ms, 0);
    for (let count = 0; count < 990; count += 1) lateness.note(3);
    for (let count = 0; count < 10; count += 1) lateness.note(4_000);
    assert.equal(lateness.p99Ms, 10);
    assert.equal(lateness.isValid, true);
    lateness.note(4_000);
    assert.equal(lateness.p99Ms, 4_000, 'never more than the latest of all');
    assert.equal(lateness.isValid, false);
  });
});
