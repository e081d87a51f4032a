import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../../src/machinery/api/node.ts';
import { buildNode, mergeRegisteredNode } from '../../../../../src/hollow-cluster/kubelet/node-status/build-node.ts';
import { profileV137 } from '../../../../../src/hollow-cluster/kubelet/profile.ts';

function fresh(labels: Readonly<Record<string, string>>): Node {
  return buildNode({ name: 'node-1', labels, profile: profileV137 });
}

describe('a new node', () => {
  it('has the default labels, which the given ones override', () => {
    assert.deepEqual(fresh({ 'kubernetes.io/arch': 'arm64', rack: '7' }).metadata.labels, {
      'beta.kubernetes.io/arch': 'arm64',
      'beta.kubernetes.io/os': 'linux',
      'kubernetes.io/hostname': 'node-1',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'arm64',
      rack: '7',
    });
  });
});

describe('a registered node', () => {
  it('gets its default labels corrected, and keeps taints, cordon and other labels', () => {
    const stored: Node = {
      metadata: { name: 'node-1', labels: { 'kubernetes.io/hostname': 'wrong', rack: '6' }, annotations: { a: 'b' } },
      spec: { unschedulable: true, taints: [{ key: 'k', effect: 'NoSchedule' }] },
    };
    const merged = mergeRegisteredNode(stored, fresh({ rack: '7', 'topology.kubernetes.io/zone': 'a' }));
    assert.deepEqual(merged.spec, stored.spec);
    assert.deepEqual(merged.metadata.labels, {
      'beta.kubernetes.io/arch': 'amd64',
      'beta.kubernetes.io/os': 'linux',
      'kubernetes.io/hostname': 'node-1',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'topology.kubernetes.io/zone': 'a',
      rack: '6',
    });
    assert.equal(merged.metadata.annotations?.['a'], 'b');
    assert.equal(merged.metadata.annotations?.['volumes.kubernetes.io/controller-managed-attach-detach'], 'true');
  });

  it('loses a default label that is now empty', () => {
    const wanted = fresh({ 'topology.kubernetes.io/zone': '' });
    const merged = mergeRegisteredNode(fresh({ 'topology.kubernetes.io/zone': 'a' }), wanted);
    assert.equal(merged.metadata.labels?.['topology.kubernetes.io/zone'], undefined);
  });

  it('is returned unchanged if it is correct', () => {
    const stored = { ...fresh({ rack: '6' }), status: { capacity: { cpu: '1' }, allocatable: { cpu: '1' } } };
    assert.equal(mergeRegisteredNode(stored, fresh({})), stored);
  });
});
