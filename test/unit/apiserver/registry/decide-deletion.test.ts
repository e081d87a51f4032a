import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DeletionInput, decideDeletion } from '../../../../src/apiserver/registry/decide-deletion.ts';

const nowMs = 1_000_000;
const running = { askedSeconds: undefined, ownSeconds: 30, idle: false } as const;
const fresh: DeletionInput = {
  nowMs,
  deletionAtMs: undefined,
  deletionGraceSeconds: undefined,
  hasFinalizers: false,
  grace: undefined,
};

test('without grace and finalizers an object goes at once', () => {
  assert.deepEqual(decideDeletion(fresh), { kind: 'remove' });
});

test('a finalizer holds it, once marked', () => {
  const held = { ...fresh, hasFinalizers: true };
  assert.deepEqual(decideDeletion(held), {
    kind: 'mark',
    deletionAtMs: nowMs,
    graceSeconds: 0,
    firstTime: true,
    thenRemove: false,
  });
  assert.deepEqual(decideDeletion({ ...held, deletionAtMs: nowMs, deletionGraceSeconds: 0 }), { kind: 'unchanged' });
});

test('a running pod gets its own grace, what was asked for, or none when nothing runs', () => {
  const graceOf = (grace: DeletionInput['grace']): readonly [number, boolean] | string => {
    const decision = decideDeletion({ ...fresh, grace });
    return decision.kind === 'mark' ? [decision.graceSeconds, decision.thenRemove] : decision.kind;
  };
  assert.deepEqual(graceOf(running), [30, false]);
  assert.deepEqual(graceOf({ ...running, askedSeconds: 5 }), [5, false]);
  assert.deepEqual(graceOf({ ...running, askedSeconds: -1 }), [1, false]);
  assert.deepEqual(graceOf({ ...running, askedSeconds: 0 }), [0, true]);
  assert.deepEqual(graceOf({ ...running, idle: true }), [0, true]);
});

test('a shortened grace that has run out leaves a second, unless it was to be none', () => {
  const underway = { ...fresh, deletionAtMs: nowMs + 5_000, deletionGraceSeconds: 30 };
  const hurried = decideDeletion({ ...underway, grace: { ...running, askedSeconds: 10 } });
  assert.deepEqual(hurried, {
    kind: 'mark',
    deletionAtMs: nowMs,
    graceSeconds: 1,
    firstTime: false,
    thenRemove: false,
  });
  const forced = decideDeletion({ ...underway, grace: { ...running, askedSeconds: 0 } });
  assert.deepEqual(forced, { kind: 'mark', deletionAtMs: nowMs, graceSeconds: 0, firstTime: false, thenRemove: true });
});

test('a second deletion never gives more time', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: -5, max: 200 }),
      fc.nat(100),
      (was, asked, leftS) => {
        const deletionAtMs = nowMs + leftS * 1_000;
        const input = { ...fresh, deletionAtMs, deletionGraceSeconds: was, grace: { ...running, askedSeconds: asked } };
        const decision = decideDeletion(input);
        if (decision.kind !== 'mark') {
          assert.equal(decision.kind, 'unchanged');
          return;
        }
        assert.ok(decision.graceSeconds <= was);
        assert.ok(decision.deletionAtMs <= Math.max(deletionAtMs, nowMs) && decision.deletionAtMs >= nowMs);
      },
    ),
  );
});
