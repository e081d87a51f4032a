import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decideAfterFailedReplace,
  decideRenewal,
  deriveNewLease,
  deriveRenewedLease,
  isOwned,
} from '../../../../src/kubelet/lease/decide-renewal.ts';

const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u1' };
const terms = { nodeName: 'node-1', durationSeconds: 40, nowMs: Date.parse('2026-01-02T03:04:05.006Z') };

describe('a renewal', () => {
  it('begins with what is held, or with a look', () => {
    const lease = deriveNewLease(terms, owner);
    assert.deepEqual(decideRenewal(lease), { next: 'replace', lease });
    assert.deepEqual(decideRenewal(undefined), { next: 'ensure' });
  });

  it('takes a fresh base after a conflict, the same one after anything else, and five tries', () => {
    assert.equal(decideAfterFailedReplace('conflict', 1), 'ensure-again');
    assert.equal(decideAfterFailedReplace('not-found', 2), 'try-again');
    assert.equal(decideAfterFailedReplace('timeout', 4), 'try-again');
    assert.equal(decideAfterFailedReplace('timeout', 5), 'give-up');
    assert.equal(decideAfterFailedReplace('conflict', 5), 'give-up');
    assert.equal(decideAfterFailedReplace('aborted', 1), 'give-up');
  });
});

describe('a lease', () => {
  it('is made with its holder, its owner and a time of six digits', () => {
    const lease = deriveNewLease(terms, owner);
    assert.deepEqual(lease.metadata, { name: 'node-1', namespace: 'kube-node-lease', ownerReferences: [owner] });
    assert.deepEqual(lease.spec, {
      holderIdentity: 'node-1',
      leaseDurationSeconds: 40,
      renewTime: '2026-01-02T03:04:05.006000Z',
    });
  });

  it('keeps version and holder when it is renewed, and gets an owner only where there is none', () => {
    const stored = {
      metadata: { name: 'node-1', resourceVersion: '7' },
      spec: { holderIdentity: 'somebody', leaseDurationSeconds: 10, leaseTransitions: 3 },
    };
    const renewed = deriveRenewedLease(stored, terms, owner);
    assert.equal(renewed.metadata.resourceVersion, '7');
    assert.deepEqual(renewed.spec, {
      holderIdentity: 'somebody',
      leaseTransitions: 3,
      leaseDurationSeconds: 40,
      renewTime: '2026-01-02T03:04:05.006000Z',
    });
    assert.ok(isOwned(renewed) && !isOwned(stored));
    assert.deepEqual(deriveRenewedLease(renewed, terms, undefined).metadata, renewed.metadata);
  });
});
