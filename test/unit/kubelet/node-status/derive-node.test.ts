import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/api/node.ts';
import { binaryQuantity, deriveCapacity } from '../../../../src/kubelet/node-status/derive-machine-info.ts';
import { deriveNode, mergeRegisteredNode } from '../../../../src/kubelet/node-status/derive-node.ts';
import { deriveMachine } from '../../../../src/kubelet/derive-machine.ts';

describe('a fresh node', () => {
  it('has the default labels, and the own ones win', () => {
    const { labels } = deriveNode('node-1', { 'kubernetes.io/arch': 'arm64', rack: '7' }).metadata;
    assert.deepEqual(labels, {
      'kubernetes.io/hostname': 'node-1',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'arm64',
      rack: '7',
    });
  });
});

describe('a node that is registered already', () => {
  it('gets its default labels put right, and keeps taints, cordon and other labels', () => {
    const stored: Node = {
      metadata: { name: 'node-1', labels: { 'kubernetes.io/hostname': 'wrong', rack: '6' }, annotations: { a: 'b' } },
      spec: { unschedulable: true, taints: [{ key: 'k', effect: 'NoSchedule' }] },
    };
    const fresh = deriveNode('node-1', { rack: '7', 'topology.kubernetes.io/zone': 'a' });
    const merged = mergeRegisteredNode(stored, fresh);
    assert.deepEqual(merged.spec, stored.spec);
    assert.deepEqual(merged.metadata.labels, {
      'kubernetes.io/hostname': 'node-1',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'topology.kubernetes.io/zone': 'a',
      rack: '6',
    });
    assert.equal(merged.metadata.annotations?.['a'], 'b');
  });
});

describe('quantities of the machine', () => {
  it('are in the shortest exact form', () => {
    assert.equal(binaryQuantity(0), '0');
    assert.equal(binaryQuantity(1_000), '1000Mi');
    assert.equal(binaryQuantity(32 * 1_024), '32Gi');
    assert.equal(binaryQuantity(1_024 ** 4), '1024Pi');
  });

  it('leave what others reported beside them', () => {
    const node = { metadata: { name: 'n' }, status: { capacity: { 'example.com/gpu': '2' } } };
    const capacity = deriveCapacity(node, deriveMachine(0)).status?.capacity;
    assert.deepEqual([capacity?.['example.com/gpu'], capacity?.['cpu'], capacity?.['memory']], ['2', '8', '32Gi']);
  });
});
