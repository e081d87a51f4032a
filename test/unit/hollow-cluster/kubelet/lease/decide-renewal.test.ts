import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decideAfterFailedReplace,
  buildNewLease,
  buildRenewedLease,
  isOwned,
} from '../../../../../src/hollow-cluster/kubelet/lease/decide-renewal.ts';

const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u1' };
const terms = { nodeName: 'node-1', durationSeconds: 40, nowMs: Date.parse('2026-01-02T03:04:05.006Z') };

describe('a lease renewal', () => {
  it('reads the lease again after a conflict, retries with the same base after other errors, and stops after five tries', () => {
    assert.equal(decideAfterFailedReplace('conflict', 1), 'ensure-again');
    assert.equal(decideAfterFailedReplace('not-found', 2), 'try-again');
    assert.equal(decideAfterFailedReplace('timeout', 4), 'try-again');
    assert.equal(decideAfterFailedReplace('timeout', 5), 'give-up');
    assert.equal(decideAfterFailedReplace('conflict', 5), 'give-up');
    assert.equal(decideAfterFailedReplace('aborted', 1), 'give-up');
  });
});

describe('a node lease', () => {
  it('is created with its holder, its owner and a renewTime with microseconds', () => {
    const lease = buildNewLease(terms, owner);
    assert.deepEqual(lease.metadata, { name: 'node-1', namespace: 'kube-node-lease', ownerReferences: [owner] });
    assert.deepEqual(lease.spec, {
      holderIdentity: 'node-1',
      leaseDurationSeconds: 40,
      renewTime: '2026-01-02T03:04:05.006000Z',
    });
  });

  it('keeps its version and holder when renewed, and gets an owner only if it has none', () => {
    const stored = {
      metadata: { name: 'node-1', resourceVersion: '7' },
      spec: { holderIdentity: 'another', leaseDurationSeconds: 10, leaseTransitions: 3 },
    };
    const renewed = buildRenewedLease(stored, terms, owner);
    assert.equal(renewed.metadata.resourceVersion, '7');
    assert.deepEqual(renewed.spec, {
      holderIdentity: 'another',
      leaseTransitions: 3,
      leaseDurationSeconds: 40,
      renewTime: '2026-01-02T03:04:05.006000Z',
    });
    assert.ok(isOwned(renewed) && !isOwned(stored));
    assert.deepEqual(buildRenewedLease(renewed, terms, undefined).metadata, renewed.metadata);
  });
});
