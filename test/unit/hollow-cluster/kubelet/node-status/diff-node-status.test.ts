import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  diffNodeStatus,
  diffNodeStatusPatch,
} from '../../../../../src/hollow-cluster/kubelet/node-status/diff-node-status.ts';
import type { Node } from '../../../../../src/machinery/api/node.ts';

const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' };
const memory = { type: 'MemoryPressure', status: 'False', lastHeartbeatTime: '2026-01-01T00:00:00Z' };
const later = { lastHeartbeatTime: '2026-01-01T00:00:10Z' };

function aNode(conditions: Node['status'] & object, labels = {}): Node {
  return { metadata: { name: 'n', labels }, status: conditions };
}

describe('the comparison of two node statuses', () => {
  it('ignores heartbeat times and the order of conditions', () => {
    const stored = aNode({ conditions: [memory, ready] });
    assert.ok(
      !diffNodeStatus(
        stored,
        aNode({
          conditions: [
            { ...ready, ...later },
            { ...memory, ...later },
          ],
        }),
      ),
    );
  });

  it('detects a changed status, message, address or label and a missing condition', () => {
    const stored = aNode({ conditions: [memory, ready] });
    const others = [
      aNode({ conditions: [memory, { ...ready, status: 'False' }] }),
      aNode({ conditions: [memory, { ...ready, message: 'else' }] }),
      aNode({ conditions: [ready] }),
      aNode({ conditions: [memory, ready], addresses: [{ type: 'Hostname', address: 'n' }] }),
      aNode({ conditions: [memory, ready] }, { 'kubernetes.io/os': 'linux' }),
    ];
    for (const other of others) assert.ok(diffNodeStatus(stored, other));
  });
});

describe('the patch of a node status', () => {
  it('contains the changed conditions and the order of all', () => {
    const stored = aNode({ conditions: [memory, ready] });
    const changed = { ...ready, status: 'False' };
    assert.deepEqual(diffNodeStatusPatch(stored, aNode({ conditions: [memory, changed] })), {
      status: {
        '$setElementOrder/conditions': [{ type: 'MemoryPressure' }, { type: 'Ready' }],
        conditions: [{ type: 'Ready', status: 'False' }],
      },
    });
  });

  it('replaces a changed list of addresses as a whole, and sends the first one as it is', () => {
    const hostname = { type: 'Hostname', address: 'n' };
    const internal = { type: 'InternalIP', address: '10.0.0.1' };
    assert.deepEqual(diffNodeStatusPatch(aNode({}), aNode({ addresses: [hostname] })), {
      status: { addresses: [hostname] },
    });
    assert.deepEqual(diffNodeStatusPatch(aNode({ addresses: [hostname] }), aNode({ addresses: [internal] })), {
      status: { addresses: [internal, { $patch: 'replace' }] },
    });
  });

  it('contains changed labels and map entries only', () => {
    const stored = aNode({ capacity: { cpu: '8', pods: '110' } }, { a: '1', b: '2' });
    const computed = aNode({ capacity: { cpu: '16', pods: '110' } }, { a: '1', b: '3' });
    assert.deepEqual(diffNodeStatusPatch(stored, computed), {
      metadata: { labels: { b: '3' } },
      status: { capacity: { cpu: '16' } },
    });
  });

  it('is empty when nothing differs', () => {
    const node = aNode({ conditions: [ready], capacity: { cpu: '1' } }, { a: '1' });
    assert.deepEqual(diffNodeStatusPatch(node, node), {});
  });

  it('removes fields that are gone, but never a condition', () => {
    const stored = aNode({ capacity: { cpu: '1', gone: '1' }, nodeInfo: { a: 'b' }, conditions: [memory] }, { a: '1' });
    assert.deepEqual(diffNodeStatusPatch(stored, aNode({ capacity: { cpu: '1' }, conditions: [] })), {
      metadata: { labels: null },
      status: { capacity: { gone: null }, nodeInfo: null },
    });
  });

  it('replaces nested objects field by field', () => {
    const stored = aNode({ daemonEndpoints: { kubeletEndpoint: { Port: 1 } } });
    const computed = aNode({ daemonEndpoints: { kubeletEndpoint: { Port: 2 } } });
    assert.deepEqual(diffNodeStatusPatch(stored, computed), {
      status: { daemonEndpoints: { kubeletEndpoint: { Port: 2 } } },
    });
  });

  it('does not contain a quantity with only another notation', () => {
    const stored = aNode({ capacity: { cpu: '1000m', memory: '1Gi' } });
    const computed = aNode({ capacity: { cpu: '1', memory: '2Gi' } });
    assert.deepEqual(diffNodeStatusPatch(stored, computed), { status: { capacity: { memory: '2Gi' } } });
  });
});
