import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Node, type NodeView, transformNode } from '../../../../src/machinery/api/node.ts';
import { planRequest } from '../../../../src/controller/writer/plan-request.ts';

const never = '36534630048-05-13T13:56:16Z';
const at = '2026-01-02T03:04:05Z';
const condition = (type: string, lastHeartbeatTime: string): object => ({
  type,
  status: 'True',
  lastHeartbeatTime,
  lastTransitionTime: at,
});

function aNode(taintAdded: string, ...conditions: readonly object[]): NodeView {
  const metadata = { name: 'n', uid: 'u', resourceVersion: '7', creationTimestamp: at };
  const taints = [{ key: 'k', effect: 'NoSchedule', timeAdded: taintAdded }];
  return transformNode({ metadata, spec: { taints }, status: { conditions } } as Node);
}

function bodyOf(command: Parameters<typeof planRequest>[0]): unknown {
  const request = planRequest(command);
  return request.verb === 'patch' ? JSON.parse(JSON.stringify(request.body)) : undefined;
}

const guard = { uid: 'u', resourceVersion: '7' };

describe('a node with a time that the API server cannot parse', () => {
  const unknown = { type: 'Ready', status: 'Unknown', lastTransitionTime: at };
  const unreadable = aNode(never, condition('Ready', never), condition('Custom', never), condition('Fine', at));
  const repair = { type: 'Custom', lastHeartbeatTime: null };
  const taint = { key: 'k', effect: 'NoSchedule' };

  test('is marked with a patch that sets all such times to null', () => {
    assert.deepEqual(bodyOf({ kind: 'set-node-conditions', node: unreadable, conditions: [unknown] }), {
      metadata: guard,
      spec: { taints: [taint] },
      status: { conditions: [unknown, repair] },
    });
  });

  test('is tainted and labelled with a patch that the API server can apply', () => {
    const status = { conditions: [{ type: 'Ready', lastHeartbeatTime: null }, repair] };
    const add = [{ key: 'x', effect: 'NoExecute' }];
    assert.deepEqual(bodyOf({ kind: 'change-taints', node: unreadable, add, remove: [], lane: 'housekeeping' }), {
      metadata: guard,
      spec: { taints: [taint, ...add] },
      status,
    });
    assert.deepEqual(bodyOf({ kind: 'set-node-metadata', node: unreadable, labels: { a: 'b' } }), {
      metadata: { uid: 'u', labels: { a: 'b' } },
      status,
    });
  });

  test('patches of all other nodes are unchanged', () => {
    const fine = aNode(at, { type: 'Ready', status: 'True', lastHeartbeatTime: null, lastTransitionTime: at });
    assert.deepEqual(bodyOf({ kind: 'set-node-conditions', node: fine, conditions: [unknown] }), {
      metadata: guard,
      status: { conditions: [unknown] },
    });
    assert.deepEqual(bodyOf({ kind: 'change-taints', node: fine, add: [], remove: [taint], lane: 'housekeeping' }), {
      metadata: guard,
      spec: { taints: null },
    });
  });
});
