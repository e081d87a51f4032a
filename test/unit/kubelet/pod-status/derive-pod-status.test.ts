import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findCondition, listConditions } from '../../../../src/api/conditions.ts';
import type { Pod } from '../../../../src/api/pod.ts';
import {
  derivePodPhase,
  derivePodStatus,
  ownConditionTypes,
  type PodStatus,
} from '../../../../src/kubelet/pod-status/derive-pod-status.ts';
import { mergePodStatus } from '../../../../src/kubelet/pod-status/merge-pod-status.ts';
import type { ContainerRecord } from '../../../../src/kubelet/runtime/derive-container-record.ts';

const startedAtMs = Date.parse('2026-01-02T03:04:05.900Z');
const created = (name: string): ContainerRecord => ({ name, image: 'i', state: 'created' });
const running = (name: string): ContainerRecord => ({ name, image: 'i', state: 'running', startedAtMs });
const exited = (name: string, exitCode: number): ContainerRecord => ({
  name,
  image: 'i',
  state: 'exited',
  startedAtMs,
  finishedAtMs: startedAtMs + 1_000,
  exitCode,
});

const pod: Pod = {
  metadata: { name: 'web' },
  spec: {
    containers: [
      { name: 'b', image: 'i' },
      { name: 'a', image: 'i' },
    ],
  },
};

function statusOf(containers: readonly ContainerRecord[] | undefined, finished = false): PodStatus {
  return derivePodStatus({ pod, containers, finished, hostIP: '10.0.0.1', podIP: '10.128.0.1' });
}

function condition(status: PodStatus, type: string) {
  return findCondition(listConditions(status.conditions), type);
}

describe('the phase of a pod', () => {
  const cases: readonly [string, readonly ContainerRecord[] | undefined, boolean, string][] = [
    ['nothing started', undefined, false, 'Pending'],
    ['one still waits', [running('a'), created('b')], false, 'Pending'],
    ['all run', [running('a'), running('b')], false, 'Running'],
    ['one has stopped', [running('a'), exited('b', 0)], false, 'Running'],
    ['all have stopped, the end is not declared', [exited('a', 0), exited('b', 0)], false, 'Running'],
    ['all have stopped well', [exited('a', 0), exited('b', 0)], true, 'Succeeded'],
    ['one was killed', [exited('a', 0), exited('b', 137)], true, 'Failed'],
    ['ended before it started', undefined, true, 'Failed'],
  ];
  for (const [why, containers, finished, phase] of cases) {
    it(`is ${phase} when ${why}`, () => assert.equal(statusOf(containers, finished).phase, phase));
  }

  it('is never left once it is terminal', () => {
    const over = { ...pod, status: { phase: 'Failed', reason: 'Evicted' } };
    const observation = { pod: over, containers: [running('a')], finished: false, hostIP: 'h', podIP: undefined };
    assert.equal(derivePodPhase(observation), 'Failed');
    assert.equal(derivePodStatus(observation).reason, 'Evicted');
  });
});

describe('the status of a pod', () => {
  it('has all conditions of the kubelet in their order', () => {
    assert.deepEqual(
      listConditions(statusOf(undefined).conditions).map(({ type }) => type),
      ownConditionTypes,
    );
  });

  it('names the containers that are not ready', () => {
    const ready = condition(statusOf([running('a'), created('b')]), 'Ready');
    assert.deepEqual(
      [ready?.status, ready?.reason, ready?.message],
      ['False', 'ContainersNotReady', 'containers with unready status: [b]'],
    );
    assert.equal(condition(statusOf([running('a'), running('b')]), 'Ready')?.status, 'True');
  });

  it('is not ready once it is over, and says which end it was', () => {
    assert.equal(condition(statusOf([exited('a', 0), exited('b', 0)], true), 'Ready')?.reason, 'PodCompleted');
    assert.equal(condition(statusOf([exited('a', 1), exited('b', 0)], true), 'ContainersReady')?.reason, 'PodFailed');
  });

  it('sorts containers by name and tells times in whole seconds', () => {
    const [a, b] = statusOf([exited('a', 3), running('b')]).containerStatuses ?? [];
    assert.deepEqual(a?.state, {
      terminated: {
        exitCode: 3,
        reason: 'Error',
        startedAt: '2026-01-02T03:04:05Z',
        finishedAt: '2026-01-02T03:04:06Z',
      },
    });
    assert.deepEqual([b?.name, b?.ready, b?.state], ['b', true, { running: { startedAt: '2026-01-02T03:04:05Z' } }]);
  });
});

describe('the times of a status', () => {
  const nowMs = Date.parse('2026-01-02T04:00:00Z');

  it('move only where a condition flips, and the start never', () => {
    const before = mergePodStatus(undefined, statusOf(undefined), nowMs);
    assert.equal(before.startTime, '2026-01-02T04:00:00Z');
    const after = mergePodStatus(before, statusOf([running('a'), running('b')]), nowMs + 60_000);
    assert.equal(after.startTime, '2026-01-02T04:00:00Z');
    assert.equal(condition(after, 'Ready')?.lastTransitionTime, '2026-01-02T04:01:00Z');
    assert.equal(condition(after, 'PodScheduled')?.lastTransitionTime, '2026-01-02T04:00:00Z');
  });
});
