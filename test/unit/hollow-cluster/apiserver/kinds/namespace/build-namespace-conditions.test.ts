import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildNamespaceConditions } from '../../../../../../src/hollow-cluster/apiserver/kinds/namespace/build-namespace-conditions.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const none = { objects: new Map(), finalizers: new Map(), failures: [] };

test('an empty namespace has five good conditions', () => {
  const conditions = buildNamespaceConditions([], none, nowMs);
  assert.deepEqual(
    conditions.map(({ type, status, reason }) => [type, status, reason]),
    [
      ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions'],
      ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted'],
      ['NamespaceContentRemaining', 'False', 'ContentRemoved'],
      ['NamespaceFinalizersRemaining', 'False', 'ContentHasNoFinalizers'],
    ],
  );
});

test('what remains is named', () => {
  const objects = new Map([
    ['pods.', 2],
    ['leases.coordination.k8s.io', 1],
  ]);
  const remaining = { objects, finalizers: new Map([['example/f', 1]]), failures: ['b', 'a'] };
  const messages = buildNamespaceConditions([], remaining, nowMs).map(({ message }) => message);
  assert.deepEqual(messages.slice(2), [
    'Failed to delete all resource types, 2 remaining: a, b',
    'Some resources are remaining: leases.coordination.k8s.io has 1 resource instances, pods. has 2 resource instances',
    'Some content in the namespace has finalizers remaining: example/f in 1 resource instances',
  ]);
});

test('times change with the status only, and other conditions are kept', () => {
  const first = buildNamespaceConditions([{ type: 'Other' }], none, nowMs);
  const same = buildNamespaceConditions(first, none, nowMs + 60_000);
  assert.deepEqual(same, first);
  const later = buildNamespaceConditions(first, { ...none, failures: ['x'] }, nowMs + 60_000);
  assert.deepEqual(later.map(({ lastTransitionTime }) => lastTransitionTime).slice(1), [
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:01:00Z',
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z',
  ]);
});
