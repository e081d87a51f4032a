import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Condition, findCondition } from '../../../../src/api/conditions.ts';
import {
  derivePressure,
  deriveReady,
  describeCustomCondition,
  pressureWords,
} from '../../../../src/kubelet/node-status/derive-conditions.ts';

const earlier = '2026-01-01T00:00:00Z';
const nowMs = Date.parse('2026-01-02T03:04:05Z');
const now = '2026-01-02T03:04:05Z';
const memory = { type: 'MemoryPressure', words: pressureWords.MemoryPressure };

function stored(status: string, extra: Partial<Condition> = {}): Condition {
  return { type: 'MemoryPressure', status, lastHeartbeatTime: earlier, lastTransitionTime: earlier, ...extra };
}

describe('a pressure condition', () => {
  it('is appended where it was missing', () => {
    const other = { type: 'Ready', status: 'True' };
    assert.deepEqual(derivePressure([other], { ...memory, holds: false }, nowMs), [
      other,
      {
        type: 'MemoryPressure',
        status: 'False',
        reason: 'KubeletHasSufficientMemory',
        message: 'kubelet has sufficient memory available',
        lastTransitionTime: now,
        lastHeartbeatTime: now,
      },
    ]);
  });

  it('moves its heartbeat alone while the status stays, words of others included', () => {
    const edited = stored('False', { reason: 'Edited', message: 'by hand' });
    const [condition] = derivePressure([edited], { ...memory, holds: false }, nowMs);
    assert.deepEqual(condition, { ...edited, lastHeartbeatTime: now });
  });

  for (const from of ['False', 'Unknown']) {
    it(`flips from ${from} with its words and a new transition time`, () => {
      const [condition] = derivePressure([stored(from)], { ...memory, holds: true }, nowMs);
      assert.equal(condition?.status, 'True');
      assert.equal(condition?.reason, 'KubeletHasInsufficientMemory');
      assert.equal(condition?.lastTransitionTime, now);
    });
  }

  it('has words for types that nobody foresaw', () => {
    assert.deepEqual(describeCustomCondition('DiskMountPressure').holds, {
      reason: 'KubeletHasDiskMountPressure',
      message: 'kubelet has disk mount pressure',
    });
    assert.equal(describeCustomCondition('NetworkUnavailable').clear.reason, 'RouteCreated');
  });
});

describe('the Ready condition', () => {
  it('is true without problems', () => {
    const [ready] = deriveReady([], [], nowMs);
    assert.deepEqual(ready, {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      message: 'kubelet is posting ready status',
      lastHeartbeatTime: now,
      lastTransitionTime: now,
    });
  });

  it('names one problem as it is, several in brackets, each once', () => {
    const message = (problems: readonly string[]) => deriveReady([], problems, nowMs)[0]?.message;
    assert.equal(message(['a']), 'a');
    assert.equal(message(['a', 'a']), 'a');
    assert.equal(message(['a', 'b', 'a']), '[a, b]');
  });

  it('keeps its transition time while the status stays, though the message changes', () => {
    const before = [{ type: 'Ready', status: 'False', message: 'old', lastTransitionTime: earlier }];
    const ready = findCondition(deriveReady(before, ['new'], nowMs), 'Ready');
    assert.deepEqual([ready?.message, ready?.lastTransitionTime], ['new', earlier]);
    const flipped = findCondition(deriveReady(before, [], nowMs), 'Ready');
    assert.equal(flipped?.lastTransitionTime, now);
  });
});
