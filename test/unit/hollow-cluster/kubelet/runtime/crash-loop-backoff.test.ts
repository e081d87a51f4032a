import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CrashLoopBackoff } from '../../../../../src/hollow-cluster/kubelet/runtime/crash-loop-backoff.ts';

describe('the crash-loop back-off', () => {
  it('doubles from ten seconds up to five minutes', () => {
    const backoff = new CrashLoopBackoff();
    assert.equal(backoff.waitMs('u/c', 0), 0);
    const waits = Array.from({ length: 8 }, (_, step) => {
      backoff.next('u/c', step, step);
      return backoff.waitMs('u/c', step) / 1_000;
    });
    assert.deepEqual(waits, [10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('is reset after ten minutes without a failure', () => {
    const backoff = new CrashLoopBackoff();
    for (let step = 0; step < 4; step += 1) backoff.next('u/c', 0, 0);
    assert.equal(backoff.waitMs('u/c', 600_000), 80_000);
    assert.equal(backoff.waitMs('u/c', 600_001), 0);
    backoff.next('u/c', 600_001, 600_001);
    assert.equal(backoff.waitMs('u/c', 600_001), 10_000);
    assert.equal(backoff.endsAtMs('u/c', 1_200_002), undefined);
  });

  it('reports when the current delay ends', () => {
    const backoff = new CrashLoopBackoff();
    assert.equal(backoff.endsAtMs('u/i', 0), undefined);
    backoff.next('u/i', 5, 5);
    assert.equal(backoff.endsAtMs('u/i', 10_004), 10_005);
    assert.equal(backoff.endsAtMs('u/i', 10_005), undefined);
  });

  it('is separate for each key, and is removed by prefix', () => {
    const backoff = new CrashLoopBackoff();
    for (const key of ['u/a', 'u/b', 'v/a']) backoff.next(key, 0, 0);
    backoff.next('u/a', 0, 0);
    assert.deepEqual([backoff.waitMs('u/a', 0), backoff.waitMs('u/b', 0)], [20_000, 10_000]);
    backoff.forget('u/');
    assert.deepEqual([backoff.waitMs('u/a', 0), backoff.waitMs('u/b', 0), backoff.waitMs('v/a', 0)], [0, 0, 10_000]);
  });
});
