import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveNodeReference } from '../../../src/events/derive-node-reference.ts';

const node = { name: 'n1', uid: 'u1' };
const versioned = { apiVersion: 'v1', kind: 'Node', name: 'n1' };

test('a kubelet names its node by its name as the uid, and without a version, unless told otherwise', () => {
  assert.deepEqual(deriveNodeReference(node), { kind: 'Node', name: 'n1', uid: 'n1' });
  assert.deepEqual(deriveNodeReference(node, 'name'), deriveNodeReference({ name: 'n1' }));
});

test('by its real uid, once that is known', () => {
  assert.deepEqual(deriveNodeReference(node, 'real'), { ...versioned, uid: 'u1' });
  for (const unknown of [{ name: 'n1' }, { name: 'n1', uid: '' }])
    assert.deepEqual(deriveNodeReference(unknown, 'real'), versioned);
});

test('by no uid', () => {
  assert.deepEqual(deriveNodeReference(node, 'none'), versioned);
});
