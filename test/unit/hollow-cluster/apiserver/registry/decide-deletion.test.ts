import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatTime } from '../../../../../src/machinery/api/timestamps.ts';
import {
  type DeletionInput,
  decideDeletion,
} from '../../../../../src/hollow-cluster/apiserver/registry/decide-deletion.ts';

const nowMs = 1_000_000;
const running = { requestedSeconds: undefined, ownSeconds: 30, idle: false } as const;
const fresh: DeletionInput = {
  nowMs,
  deletionAtMs: undefined,
  deletionGraceSeconds: undefined,
  hasFinalizers: false,
  grace: undefined,
};

test('an object without grace period and finalizers is removed at once', () => {
  assert.deepEqual(decideDeletion(fresh), { kind: 'remove' });
});

test('an object with a finalizer is marked once and kept', () => {
  const held = { ...fresh, hasFinalizers: true };
  const marked = { kind: 'mark', deletionAtMs: nowMs, graceSeconds: 0, firstTime: true, thenRemove: false };
  assert.deepEqual(decideDeletion(held), marked);
  assert.deepEqual(decideDeletion({ ...held, deletionAtMs: nowMs, deletionGraceSeconds: 0 }), { kind: 'unchanged' });
});

test('a pod gets the requested grace period, else its own; none if no container runs', () => {
  const graceOf = (grace: DeletionInput['grace']): readonly [number, boolean] | string => {
    const decision = decideDeletion({ ...fresh, grace });
    return decision.kind === 'mark' ? [decision.graceSeconds, decision.thenRemove] : decision.kind;
  };
  assert.deepEqual(graceOf(running), [30, false]);
  assert.deepEqual(graceOf({ ...running, requestedSeconds: 5 }), [5, false]);
  assert.deepEqual(graceOf({ ...running, requestedSeconds: -1 }), [1, false]);
  assert.deepEqual(graceOf({ ...running, requestedSeconds: 0 }), [0, true]);
  assert.deepEqual(graceOf({ ...running, idle: true }), [0, true]);
});

test('a grace period ends at the last time that can be written', () => {
  const decision = decideDeletion({ ...fresh, grace: { ...running, requestedSeconds: 9e15 } });
  assert.ok(decision.kind === 'mark');
  assert.equal(formatTime(decision.deletionAtMs), '9999-12-31T23:59:59Z');
  const { deletionAtMs, graceSeconds } = decision;
  assert.equal(deletionAtMs, nowMs + graceSeconds * 1_000);
  const shortened = { ...fresh, deletionAtMs, deletionGraceSeconds: graceSeconds };
  const again = decideDeletion({ ...shortened, grace: { ...running, requestedSeconds: 30 } });
  assert.deepEqual(again.kind === 'mark' && again.deletionAtMs, nowMs + 30_000);
});

test('a shortened grace period in the past becomes 1 s, unless 0 was requested', () => {
  const underway = { ...fresh, deletionAtMs: nowMs + 5_000, deletionGraceSeconds: 30 };
  const marked = { kind: 'mark', deletionAtMs: nowMs, firstTime: false };
  const hurried = decideDeletion({ ...underway, grace: { ...running, requestedSeconds: 10 } });
  assert.deepEqual(hurried, { ...marked, graceSeconds: 1, thenRemove: false });
  const forced = decideDeletion({ ...underway, grace: { ...running, requestedSeconds: 0 } });
  assert.deepEqual(forced, { ...marked, graceSeconds: 0, thenRemove: true });
});

test('a second deletion never extends the grace period', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: -5, max: 200 }),
      fc.nat(100),
      (was, asked, leftS) => {
        const deletionAtMs = nowMs + leftS * 1_000;
        const grace = { ...running, requestedSeconds: asked };
        const decision = decideDeletion({ ...fresh, deletionAtMs, deletionGraceSeconds: was, grace });
        if (decision.kind === 'mark') {
          assert.ok(decision.graceSeconds <= was);
          assert.ok(decision.deletionAtMs <= Math.max(deletionAtMs, nowMs) && decision.deletionAtMs >= nowMs);
        } else assert.equal(decision.kind, 'unchanged');
      },
    ),
  );
});
