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
const well = { problems: [], warning: undefined, plainJoin: false };

function stored(status: string, extra: Partial<Condition> = {}): Condition {
  return { type: 'MemoryPressure', status, lastHeartbeatTime: earlier, lastTransitionTime: earlier, ...extra };
}

describe('a pressure condition', () => {
  it('is appended where it was missing, which is told', () => {
    const other = { type: 'Ready', status: 'True' };
    assert.deepEqual(derivePressure([other], { ...memory, holds: false }, nowMs), {
      conditions: [
        other,
        {
          type: 'MemoryPressure',
          status: 'False',
          reason: 'KubeletHasSufficientMemory',
          message: 'kubelet has sufficient memory available',
          lastTransitionTime: now,
          lastHeartbeatTime: now,
        },
      ],
      event: 'NodeHasSufficientMemory',
    });
  });

  it('moves its heartbeat alone while the status stays, words of others included', () => {
    const edited = stored('False', { reason: 'Edited', message: 'by hand' });
    const { conditions, event } = derivePressure([edited], { ...memory, holds: false }, nowMs);
    assert.deepEqual(conditions, [{ ...edited, lastHeartbeatTime: now }]);
    assert.equal(event, undefined);
  });

  for (const from of ['False', 'Unknown']) {
    it(`flips from ${from} with its words, its event and a new transition time`, () => {
      const { conditions, event } = derivePressure([stored(from)], { ...memory, holds: true }, nowMs);
      assert.equal(conditions[0]?.status, 'True');
      assert.equal(conditions[0]?.reason, 'KubeletHasInsufficientMemory');
      assert.equal(conditions[0]?.lastTransitionTime, now);
      assert.equal(event, 'NodeHasInsufficientMemory');
    });
  }

  it('has words for types that nobody foresaw', () => {
    assert.deepEqual(describeCustomCondition('DiskMountPressure').holds, {
      reason: 'KubeletHasDiskMountPressure',
      message: 'kubelet has disk mount pressure',
      event: 'NodeHasDiskMountPressure',
    });
    assert.equal(describeCustomCondition('NetworkUnavailable').clear.reason, 'RouteCreated');
  });
});

describe('the Ready condition', () => {
  it('is true without problems, and no event when it is new', () => {
    assert.deepEqual(deriveReady([], well, nowMs), {
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'kubelet is posting ready status',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
      event: undefined,
    });
  });

  it('names one problem as it is, several in brackets, each once', () => {
    const message = (problems: readonly string[]) =>
      deriveReady([], { ...well, problems }, nowMs).conditions[0]?.message;
    assert.equal(message(['a']), 'a');
    assert.equal(message(['a', 'a']), 'a');
    assert.equal(message(['a', 'b', 'a']), '[a, b]');
  });

  it('keeps its transition time while the status stays, though the message changes', () => {
    const before = [{ type: 'Ready', status: 'False', message: 'old', lastTransitionTime: earlier }];
    const still = deriveReady(before, { ...well, problems: ['new'] }, nowMs);
    const ready = findCondition(still.conditions, 'Ready');
    assert.deepEqual([ready?.message, ready?.lastTransitionTime, still.event], ['new', earlier, undefined]);
    const flipped = deriveReady(before, well, nowMs);
    assert.equal(findCondition(flipped.conditions, 'Ready')?.lastTransitionTime, now);
    assert.equal(flipped.event, 'NodeReady');
    assert.equal(deriveReady(flipped.conditions, { ...well, problems: ['x'] }, nowMs).event, 'NodeNotReady');
  });
});
