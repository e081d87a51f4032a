import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BackoffLadder } from '../../../../src/kubelet/runtime/backoff-ladder.ts';

describe('a ladder of waits', () => {
  it('doubles from ten seconds up to five minutes', () => {
    const ladder = new BackoffLadder();
    assert.equal(ladder.waitMs('u/c', 0), 0);
    const waits = Array.from({ length: 8 }, (_, step) => {
      ladder.climb('u/c', step, step);
      return ladder.waitMs('u/c', step) / 1_000;
    });
    assert.deepEqual(waits, [10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('is forgotten by who has not failed for more than ten minutes since the last step', () => {
    const ladder = new BackoffLadder();
    for (let step = 0; step < 4; step += 1) ladder.climb('u/c', 0, 0);
    assert.equal(ladder.waitMs('u/c', 600_000), 80_000);
    assert.equal(ladder.waitMs('u/c', 600_001), 0);
    ladder.climb('u/c', 600_001, 600_001);
    assert.equal(ladder.waitMs('u/c', 600_001), 10_000);
    assert.equal(ladder.endsAtMs('u/c', 1_200_002), undefined);
  });

  it('says until when the last step holds', () => {
    const ladder = new BackoffLadder();
    assert.equal(ladder.endsAtMs('u/i', 0), undefined);
    ladder.climb('u/i', 5, 5);
    assert.equal(ladder.endsAtMs('u/i', 10_004), 10_005);
    assert.equal(ladder.endsAtMs('u/i', 10_005), undefined);
  });

  it('keeps each apart, and drops those of one pod when it is told to', () => {
    const ladder = new BackoffLadder();
    for (const key of ['u/a', 'u/b', 'v/a']) ladder.climb(key, 0, 0);
    ladder.climb('u/a', 0, 0);
    assert.deepEqual([ladder.waitMs('u/a', 0), ladder.waitMs('u/b', 0)], [20_000, 10_000]);
    ladder.forget('u/');
    assert.deepEqual([ladder.waitMs('u/a', 0), ladder.waitMs('u/b', 0), ladder.waitMs('v/a', 0)], [0, 0, 10_000]);
  });
});
