import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TimerWheel } from '../../../../../src/hollow-cluster/kubelet/queues/timer-wheel.ts';
import { SeededRandom } from '../../../../support/fakes.ts';

const tickMs = 10;

function taken(wheel: TimerWheel, nowMs: number): readonly number[] {
  return Array.from(wheel.takeDue(nowMs), ({ dueMs }) => dueMs);
}

const nothing = (): void => {};

describe('a timer wheel', () => {
  it('returns due timers, never early, and at most one tick late', () => {
    const wheel = new TimerWheel(tickMs, 1_000);
    wheel.add(1_025, nothing);
    assert.deepEqual(taken(wheel, 1_024.9), []);
    assert.deepEqual(taken(wheel, 1_029), []);
    assert.deepEqual(taken(wheel, 1_030), [1_025]);
    assert.equal(wheel.size, 0);
  });

  it('keeps the order within a tick, and never returns a removed timer', () => {
    const wheel = new TimerWheel(tickMs, 0);
    const timers = [4, 3, 2, 1].map((ms) => wheel.add(ms, nothing));
    wheel.remove(timers[1] ?? assert.fail());
    wheel.remove(timers[1] ?? assert.fail());
    assert.deepEqual(taken(wheel, 10), [4, 2, 1]);
    wheel.remove(timers[0] ?? assert.fail());
    assert.equal(wheel.size, 0);
  });

  it('leaves what a caller does not take, and timers that begin meanwhile', () => {
    const wheel = new TimerWheel(tickMs, 0);
    const removed = wheel.add(3, nothing);
    for (const ms of [4, 5, 15]) wheel.add(ms, nothing);
    for (const { dueMs } of wheel.takeDue(20)) {
      wheel.remove(removed);
      wheel.add(dueMs, nothing);
      if (dueMs === 4) break;
    }
    assert.deepEqual(taken(wheel, 20), [5, 15]);
    assert.deepEqual(taken(wheel, 30), [3, 4]);
  });

  it('is correct for random due times and random advances', () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const random = new SeededRandom(seed);
      const wheel = new TimerWheel(tickMs, 0);
      const waiting = new Set<number>();
      const ranges = [50, 5_000, 200_000, 20_000_000];
      let nowMs = 0;
      for (let step = 0; step < 300; step += 1) {
        const range = ranges[Math.floor(random.next() * ranges.length)] ?? 1;
        const dueMs = nowMs + Math.ceil(random.next() * range) + random.next() / 2;
        const timer = wheel.add(dueMs, nothing);
        waiting.add(dueMs);
        if (random.next() < 0.2) {
          wheel.remove(timer);
          waiting.delete(dueMs);
        }
        const next = wheel.nextMs();
        const first = Math.min(...waiting);
        assert.ok(waiting.size === 0 || (next !== undefined && next <= first + tickMs), 'nextMs is not too late');
        nowMs += random.next() * (random.next() < 0.1 ? 500_000 : 700);
        for (const dueMs of taken(wheel, nowMs)) {
          assert.ok(dueMs <= nowMs, `seed ${seed}: ${dueMs} is early at ${nowMs}`);
          assert.ok(waiting.delete(dueMs), `seed ${seed}: ${dueMs} was not pending`);
        }
        for (const dueMs of waiting) assert.ok(dueMs > nowMs - tickMs, `seed ${seed}: ${dueMs} is late at ${nowMs}`);
        assert.equal(wheel.size, waiting.size);
      }
    }
  });

  it('returns the next poll time', () => {
    const wheel = new TimerWheel(tickMs, 0);
    assert.equal(wheel.nextMs(), undefined);
    wheel.add(95, nothing);
    assert.equal(wheel.nextMs(), 100);
    wheel.add(41, nothing);
    assert.equal(wheel.nextMs(), 50);
  });
});
