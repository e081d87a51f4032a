import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease, LeaseSpec } from '../../../../src/machinery/api/lease.ts';
import {
  decideLease,
  type LeaseDecision,
  type LeaseInput,
  type ObservedLease,
  observeLease,
} from '../../../../src/machinery/election/decide-lease.ts';

const held: LeaseSpec = {
  holderIdentity: 'b',
  leaseDurationSeconds: 15,
  acquireTime: '2026-01-02T03:04:05.000000Z',
  renewTime: '2026-01-02T03:04:05.000000Z',
  leaseTransitions: 3,
};

function aLease(spec: LeaseSpec = held): Lease {
  return { metadata: { name: 'nlc', namespace: 'kube-system', resourceVersion: '7' }, spec };
}

function decide(observed: ObservedLease | undefined, over: Partial<LeaseInput> = {}): LeaseDecision {
  return decideLease({
    observed,
    identity: 'a',
    leading: false,
    paused: false,
    leaseDurationMs: 15_000,
    nowMs: 1_000,
    ...over,
  });
}

test('a lease that never existed is not an observation', () => {
  assert.equal(observeLease(undefined, undefined, 5), undefined);
});

test('an unchanged record keeps its first observation time', () => {
  const known = observeLease(undefined, aLease(), 5);
  assert.deepEqual(known, { record: held, observedAtMs: 5 });
  assert.equal(observeLease(known, aLease({ ...held }), 9), known);
});

test('a change of metadata alone is not a new observation', () => {
  const known = observeLease(undefined, aLease(), 5);
  const touched = { ...aLease(), metadata: { name: 'nlc', resourceVersion: '8' } };
  assert.equal(observeLease(known, touched, 9), known);
});

for (const [field, value] of Object.entries({
  holderIdentity: 'c',
  leaseDurationSeconds: 16,
  acquireTime: '2026-01-02T03:04:06.000000Z',
  renewTime: '2026-01-02T03:04:06.000000Z',
  leaseTransitions: 4,
}))
  test(`a changed ${field} is a new observation`, () => {
    const known = observeLease(undefined, aLease(), 5);
    assert.equal(observeLease(known, aLease({ ...held, [field]: value }), 9)?.observedAtMs, 9);
  });

test('null and absent are the same record', () => {
  const known = observeLease(undefined, aLease({ holderIdentity: 'b' }), 5);
  assert.equal(observeLease(known, aLease({ holderIdentity: 'b', renewTime: null }), 9), known);
});

test('a deleted lease is a new observation, once', () => {
  const known = observeLease(undefined, aLease(), 5);
  const gone = observeLease(known, undefined, 9);
  assert.deepEqual(gone, { record: 'missing', observedAtMs: 9 });
  assert.equal(observeLease(gone, undefined, 20), gone);
  assert.equal(observeLease(gone, aLease(), 30)?.observedAtMs, 30);
});

test('never observed: create', () => {
  assert.deepEqual(decide(undefined), { next: 'create', reason: 'never-seen' });
});

test('held by this process: renew, leading or not, at any age', () => {
  const observed = { record: { ...held, holderIdentity: 'a' }, observedAtMs: 0 };
  for (const leading of [true, false])
    assert.deepEqual(decide(observed, { leading, nowMs: 1e9 }), { next: 'renew', reason: 'held-by-this-process' });
});

for (const holderIdentity of ['', null])
  test(`released (${JSON.stringify(holderIdentity)}): take`, () => {
    const observed = { record: { ...held, holderIdentity }, observedAtMs: 1_000 };
    assert.deepEqual(decide(observed), { next: 'take', reason: 'released' });
  });

test('held by another: wait for its whole duration since the last observed change', () => {
  const observed = { record: held, observedAtMs: 1_000 };
  assert.deepEqual(decide(observed, { nowMs: 15_999 }), { next: 'wait', reason: 'held' });
  assert.deepEqual(decide(observed, { nowMs: 16_000 }), { next: 'take', reason: 'expired' });
});

test("the record's duration counts, not the configured one", () => {
  const observed = { record: { ...held, leaseDurationSeconds: 60 }, observedAtMs: 0 };
  assert.equal(decide(observed, { nowMs: 59_999 }).next, 'wait');
  assert.equal(decide(observed, { nowMs: 60_000 }).next, 'take');
});

for (const leaseDurationSeconds of [null, 0, undefined])
  test(`a record with duration ${leaseDurationSeconds} binds for the configured duration`, () => {
    const observed = {
      record: { holderIdentity: 'b', leaseDurationSeconds: leaseDurationSeconds ?? null },
      observedAtMs: 0,
    };
    assert.equal(decide(observed, { nowMs: 14_999 }).next, 'wait');
    assert.equal(decide(observed, { nowMs: 15_000 }).next, 'take');
  });

test('a leader that observes another holder, or none, does not take the lease back', () => {
  for (const holderIdentity of ['b', '', null])
    assert.deepEqual(decide({ record: { ...held, holderIdentity }, observedAtMs: 0 }, { leading: true, nowMs: 1e9 }), {
      next: 'wait',
      reason: 'taken-by-another',
    });
});

test('deleted while held: the leader creates a new one at once, others wait one duration', () => {
  const observed = { record: 'missing', observedAtMs: 1_000 } as const;
  assert.deepEqual(decide(observed, { leading: true }), { next: 'create', reason: 'deleted-while-leading' });
  assert.deepEqual(decide(observed, { nowMs: 15_999 }), { next: 'wait', reason: 'missing-too-recently' });
  assert.deepEqual(decide(observed, { nowMs: 16_000 }), { next: 'create', reason: 'missing-long-enough' });
});

test('after a suspend: only a lease held by this process is renewed; a released, expired or missing one ends leadership', () => {
  const paused = { paused: true, nowMs: 1e9 };
  const own: ObservedLease = { record: { ...held, holderIdentity: 'a' }, observedAtMs: 0 };
  assert.deepEqual(decide(own, paused), { next: 'renew', reason: 'held-by-this-process' });
  for (const holderIdentity of ['', 'b'])
    assert.deepEqual(decide({ record: { ...held, holderIdentity }, observedAtMs: 0 }, paused), {
      next: 'wait',
      reason: 'taken-by-another',
    });
  const missing: ObservedLease = { record: 'missing', observedAtMs: 0 };
  assert.deepEqual(decide(missing, paused), { next: 'wait', reason: 'missing-too-recently' });
});
