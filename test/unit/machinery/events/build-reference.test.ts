import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildNodeReference } from '../../../../src/machinery/events/build-reference.ts';

const node = { name: 'n1', uid: 'u1' };
const versioned = { apiVersion: 'v1', kind: 'Node', name: 'n1' };

test('by default the uid is the name of the node, without an apiVersion', () => {
  assert.deepEqual(buildNodeReference(node), { kind: 'Node', name: 'n1', uid: 'n1' });
  assert.deepEqual(buildNodeReference(node, 'name'), buildNodeReference({ name: 'n1' }));
});

test('`real`: the uid of the node, once it is known', () => {
  assert.deepEqual(buildNodeReference(node, 'real'), { ...versioned, uid: 'u1' });
  for (const unknown of [{ name: 'n1' }, { name: 'n1', uid: '' }])
    assert.deepEqual(buildNodeReference(unknown, 'real'), versioned);
});

test('`none`: no uid', () => {
  assert.deepEqual(buildNodeReference(node, 'none'), versioned);
});
