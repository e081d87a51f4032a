import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildMarkingState, isNotReadyForLong } from '../../../../src/controller/pod-readiness/build-marking-state.ts';

const evidence = { ready: 'False', readyChangedAtMs: 1_000, afterMs: 60_000, nowMs: 61_000, hasRecentHeartbeat: true };

test('NotReady for long: from the time of the policy on, never without one, and with no other status', () => {
  assert.equal(isNotReadyForLong(evidence), true);
  assert.equal(isNotReadyForLong({ ...evidence, nowMs: 60_999 }), false);
  assert.equal(isNotReadyForLong({ ...evidence, afterMs: Infinity }), false);
  for (const ready of ['True', 'Unknown', 'missing']) assert.equal(isNotReadyForLong({ ...evidence, ready }), false);
});

test('a node never posted a status without the Ready condition, and where a controller wrote it for that', () => {
  const neverPosted = (reason: string | undefined): boolean => {
    const conditions = reason === undefined ? [] : [{ type: 'Ready', status: 'Unknown', reason }];
    return buildMarkingState({ conditions }, evidence).neverPosted;
  };
  assert.deepEqual(
    [neverPosted(undefined), neverPosted('NodeStatusNeverUpdated'), neverPosted('NodeStatusUnknown')],
    [true, true, false],
  );
});

test('the state says what is known of heartbeats and of the Ready condition', () => {
  const conditions = [{ type: 'Ready', status: 'False' }];
  assert.deepEqual(buildMarkingState({ conditions }, evidence), {
    ready: 'False',
    hasRecentHeartbeat: true,
    neverPosted: false,
    isNotReadyForLong: true,
  });
});
