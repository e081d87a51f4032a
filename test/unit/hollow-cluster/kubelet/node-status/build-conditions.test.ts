import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Condition, findCondition } from '../../../../../src/machinery/api/conditions.ts';
import {
  buildPressure,
  buildReady,
  describeCustomCondition,
  pressureTexts,
} from '../../../../../src/hollow-cluster/kubelet/node-status/build-conditions.ts';

const earlier = '2026-01-01T00:00:00Z';
const nowMs = Date.parse('2026-01-02T03:04:05Z');
const now = '2026-01-02T03:04:05Z';
const memory = { type: 'MemoryPressure', texts: pressureTexts.MemoryPressure };

function stored(status: string, extra: Partial<Condition> = {}): Condition {
  return { type: 'MemoryPressure', status, lastHeartbeatTime: earlier, lastTransitionTime: earlier, ...extra };
}

describe('a pressure condition', () => {
  it('is appended if it was missing, with an Event', () => {
    const other = { type: 'Ready', status: 'True' };
    assert.deepEqual(buildPressure([other], { ...memory, holds: false }, nowMs), {
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

  it('only updates its heartbeat time while the status stays, including a message set by another client', () => {
    const edited = stored('False', { reason: 'Edited', message: 'by hand' });
    const { conditions, event } = buildPressure([edited], { ...memory, holds: false }, nowMs);
    assert.deepEqual(conditions, [{ ...edited, lastHeartbeatTime: now }]);
    assert.equal(event, undefined);
  });

  for (const from of ['False', 'Unknown']) {
    it(`flips from ${from} with its reason, message, Event and a new transition time`, () => {
      const { conditions, event } = buildPressure([stored(from)], { ...memory, holds: true }, nowMs);
      assert.deepEqual([conditions[0]?.status, conditions[0]?.reason], ['True', 'KubeletHasInsufficientMemory']);
      assert.equal(conditions[0]?.lastTransitionTime, now);
      assert.equal(event, 'NodeHasInsufficientMemory');
    });
  }

  it('has a reason and message derived from its type, if custom', () => {
    assert.deepEqual(describeCustomCondition('DiskMountPressure').holds, {
      reason: 'KubeletHasDiskMountPressure',
      message: 'kubelet has disk mount pressure',
      event: 'NodeHasDiskMountPressure',
    });
    assert.equal(describeCustomCondition('NetworkUnavailable').clear.reason, 'RouteCreated');
  });
});

describe('the Ready condition', () => {
  it('is True without problems, and records no Event when it is new', () => {
    assert.deepEqual(buildReady([], [], nowMs), {
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

  it('reports one problem as it is, several in brackets, without duplicates', () => {
    const message = (problems: readonly string[]) => buildReady([], problems, nowMs).conditions[0]?.message;
    assert.equal(message(['a']), 'a');
    assert.equal(message(['a', 'a']), 'a');
    assert.equal(message(['a', 'b', 'a']), '[a, b]');
  });

  it('keeps its transition time while the status stays, even if the message changes', () => {
    const before = [{ type: 'Ready', status: 'False', message: 'old', lastTransitionTime: earlier }];
    const still = buildReady(before, ['new'], nowMs);
    const ready = findCondition(still.conditions, 'Ready');
    assert.deepEqual([ready?.message, ready?.lastTransitionTime, still.event], ['new', earlier, undefined]);
    const flipped = buildReady(before, [], nowMs);
    assert.equal(findCondition(flipped.conditions, 'Ready')?.lastTransitionTime, now);
    assert.equal(flipped.event, 'NodeReady');
    assert.equal(buildReady(flipped.conditions, ['x'], nowMs).event, 'NodeNotReady');
  });
});
