import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildFirstLease,
  buildReleasedLease,
  buildRenewedLease,
  buildTakenLease,
} from '../../../../src/machinery/election/build-lease.ts';

const nowMs = Date.parse('2026-01-02T03:04:05.678Z');
const now = '2026-01-02T03:04:05.678000Z';
const claim = { namespace: 'kube-system', name: 'nlc', identity: 'a', leaseDurationMs: 15_000, nowMs };
const shown = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'kube-system', name: 'nlc', uid: 'u', resourceVersion: '7', labels: { keep: 'me' } },
  spec: {
    holderIdentity: 'b',
    leaseDurationSeconds: 40,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:01.000000Z',
    leaseTransitions: 3,
    strategy: 'OldestEmulationVersion',
  },
};

test('the first lease has 0 transitions, microsecond times, and no resourceVersion', () => {
  assert.deepEqual(buildFirstLease(claim), {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'kube-system', name: 'nlc' },
    spec: { holderIdentity: 'a', leaseDurationSeconds: 15, acquireTime: now, renewTime: now, leaseTransitions: 0 },
  });
});

test('a renewal changes only renewTime and keeps unknown fields', () => {
  const own = { ...shown, spec: { ...shown.spec, holderIdentity: 'a', leaseDurationSeconds: 15 } };
  assert.deepEqual(buildRenewedLease(own, claim), { ...own, spec: { ...own.spec, renewTime: now } });
});

test('a taken lease has one transition more, and the resourceVersion that it was based on', () => {
  assert.deepEqual(buildTakenLease(shown, claim), {
    ...shown,
    spec: {
      ...shown.spec,
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 4,
    },
  });
});

test('a lease without a spec is taken as its first transition', () => {
  assert.equal(buildTakenLease({ metadata: {} }, claim).spec?.leaseTransitions, 1);
});

test('a released lease has no holder, a duration of one second, and keeps its transitions', () => {
  assert.deepEqual(buildReleasedLease(shown, nowMs).spec, {
    ...shown.spec,
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: now,
    renewTime: now,
  });
});

test('durations are rounded up to whole seconds, never down', () => {
  assert.equal(buildFirstLease({ ...claim, leaseDurationMs: 15_001 }).spec?.leaseDurationSeconds, 16);
});
