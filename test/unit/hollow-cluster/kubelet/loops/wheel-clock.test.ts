import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Lateness } from '../../../../../src/hollow-cluster/kubelet/loops/lateness.ts';
import { WheelClock, wheelTickMs } from '../../../../../src/hollow-cluster/kubelet/loops/wheel-clock.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { RecordingLogger } from '../../../../support/fakes.ts';

describe('a clock with one timer wheel for all sleeps', () => {
  let manual: ManualClock;
  let logger: RecordingLogger;
  let clock: WheelClock;
  let life: AbortController;

  beforeEach(() => {
    manual = new ManualClock();
    logger = new RecordingLogger();
    clock = new WheelClock({ clock: manual, logger });
    life = new AbortController();
  });

  async function sleeper(ms: number): Promise<number> {
    const startMs = clock.monotonicMs();
    await clock.sleep(ms, life.signal);
    return clock.monotonicMs() - startMs;
  }

  it('ends each sleep on time, with one sleep of the underlying clock', async () => {
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
    assert.equal(manual.sleeping, 0, 'it rests without pending sleeps');
  });

  it('ends a shorter sleep in time while a longer one is pending', async () => {
    void sleeper(60_000);
    await manual.advance(1_005);
    const short = sleeper(30);
    await manual.advance(30 + wheelTickMs);
    assert.ok((await short) <= 30 + wheelTickMs);
    life.abort();
    await manual.advance(0);
  });

  it('ends all sleeps when the signal aborts, and leaks nothing', async () => {
    const slept = [10, 1_000, 100_000].map((ms) => sleeper(ms));
    await manual.advance(0);
    life.abort();
    assert.deepEqual(await Promise.all(slept), [0, 0, 0]);
    await manual.advance(0);
    assert.equal(clock.sleeping + manual.sleeping, 0);
    await clock.sleep(10, life.signal);
    await clock.sleep(-1, new AbortController().signal);
  });

  it('continues in later turns when too many sleeps end at once, and loses none', async () => {
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

  it('records its lateness, and logs a stall', async () => {
    const slept = sleeper(100);
    await manual.advance(0);
    manual.stall(1_100);
    await manual.advance(1);
    await slept;
    assert.deepEqual([clock.lateness.count, clock.lateness.maxMs], [1, 1_000]);
    assert.deepEqual(logger.lines, [{ level: 'warn', fields: { stalledMs: 1_000 }, message: 'event loop stalled' }]);
  });
});

describe('lateness', () => {
  it('is valid if its 99th percentile is at most one second', () => {
    const lateness = new Lateness();
    assert.equal(lateness.p99Ms, 0);
    for (let count = 0; count < 990; count += 1) lateness.note(3);
    for (let count = 0; count < 10; count += 1) lateness.note(4_000);
    assert.deepEqual([lateness.p99Ms, lateness.isValid], [10, true]);
    lateness.note(4_000);
    assert.equal(lateness.p99Ms, 4_000, 'never more than the maximum');
    assert.equal(lateness.isValid, false);
  });
});
