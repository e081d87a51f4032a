import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/api/node.ts';
import { deriveNodeStatusPatch, diffNodeStatus } from '../../../../src/kubelet/node-status/diff-node-status.ts';

const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' };
const memory = { type: 'MemoryPressure', status: 'False', lastHeartbeatTime: '2026-01-01T00:00:00Z' };
const later = { lastHeartbeatTime: '2026-01-01T00:00:10Z' };

function aNode(conditions: Node['status'] & object, labels = {}): Node {
  return { metadata: { name: 'n', labels }, status: conditions };
}

describe('a difference in status', () => {
  it('is not made by heartbeats or by the order of conditions', () => {
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

  it('is made by a status, a message, a missing condition, an address and a label', () => {
    const stored = aNode({ conditions: [memory, ready] });
    const others = [
      aNode({ conditions: [memory, { ...ready, status: 'False' }] }),
      aNode({ conditions: [memory, { ...ready, message: 'else' }] }),
      aNode({ conditions: [ready] }),
      aNode({ conditions: [memory, ready], addresses: [{ type: 'Hostname', address: 'n' }] }),
      aNode({ conditions: [memory, ready] }, { a: 'b' }),
    ];
    for (const other of others) assert.ok(diffNodeStatus(stored, other));
  });
});

describe('the patch of a status', () => {
  it('names the changed conditions and the order of all', () => {
    const stored = aNode({ conditions: [memory, ready] });
    const changed = { ...ready, status: 'False' };
    assert.deepEqual(deriveNodeStatusPatch(stored, aNode({ conditions: [memory, changed] })), {
      status: {
        '$setElementOrder/conditions': [{ type: 'MemoryPressure' }, { type: 'Ready' }],
        conditions: [changed],
      },
    });
  });

  it('replaces a changed list of addresses whole, and sends a first one as it is', () => {
    const hostname = { type: 'Hostname', address: 'n' };
    const internal = { type: 'InternalIP', address: '10.0.0.1' };
    assert.deepEqual(deriveNodeStatusPatch(aNode({}), aNode({ addresses: [hostname] })), {
      status: { addresses: [hostname] },
    });
    assert.deepEqual(deriveNodeStatusPatch(aNode({ addresses: [hostname] }), aNode({ addresses: [internal] })), {
      status: { addresses: [internal, { $patch: 'replace' }] },
    });
  });

  it('carries changed labels and map entries only', () => {
    const stored = aNode({ capacity: { cpu: '8', pods: '110' } }, { a: '1', b: '2' });
    const computed = aNode({ capacity: { cpu: '16', pods: '110' } }, { a: '1', b: '3' });
    assert.deepEqual(deriveNodeStatusPatch(stored, computed), {
      metadata: { labels: { b: '3' } },
      status: { capacity: { cpu: '16' } },
    });
  });
});
