import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergeStatus } from '../../../../../src/hollow-cluster/kubelet/node-status/setter-context.ts';
import type { Node } from '../../../../../src/machinery/api/node.ts';

const node: Node = {
  metadata: { name: 'n1' },
  status: { addresses: [{ type: 'Hostname', address: 'n1' }], capacity: { cpu: '4' } },
};

describe('fields of a node status', () => {
  it('leave the node the same object if it has equal values', () => {
    const addresses = [{ type: 'Hostname', address: 'n1' }];
    assert.equal(mergeStatus(node, { addresses, capacity: { cpu: '4' } }), node);
  });

  it('replace those that differ, and no others', () => {
    const merged = mergeStatus(node, { capacity: { cpu: '8' } });
    assert.deepEqual(merged, { ...node, status: { ...node.status, capacity: { cpu: '8' } } });
    assert.equal(merged.status?.addresses, node.status?.addresses);
  });

  it('are added to a node without a status', () => {
    const merged = mergeStatus({ metadata: { name: 'n1' } }, { capacity: {} });
    assert.deepEqual(merged, { metadata: { name: 'n1' }, status: { capacity: {} } });
  });
});
