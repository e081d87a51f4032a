import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/api/node.ts';
import { deriveMachine } from '../../../../src/kubelet/derive-machine.ts';
import { binaryQuantity, deriveCapacity } from '../../../../src/kubelet/node-status/derive-machine-info.ts';
import { deriveNode, mergeRegisteredNode } from '../../../../src/kubelet/node-status/derive-node.ts';
import { modernProfile } from '../../../../src/kubelet/profile.ts';

function fresh(labels: Readonly<Record<string, string>>, profile = modernProfile): Node {
  return deriveNode({ name: 'node-1', labels, profile, nowMs: 0 });
}

describe('a fresh node', () => {
  it('has the default labels, and the own ones win', () => {
    assert.deepEqual(fresh({ 'kubernetes.io/arch': 'arm64', rack: '7' }).metadata.labels, {
      'beta.kubernetes.io/arch': 'arm64',
      'beta.kubernetes.io/os': 'linux',
      'kubernetes.io/hostname': 'node-1',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'arm64',
      rack: '7',
    });
  });

  it('names a taint once though it follows from the configuration twice', () => {
    const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
    const { spec } = fresh({}, { ...modernProfile, registerSchedulable: false, registerWithTaints: [taint] });
    assert.deepEqual(spec?.taints, [taint]);
  });
});

describe('a node that is registered already', () => {
  it('gets its default labels put right, and keeps taints, cordon and other labels', () => {
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

  it('loses a default label that is empty now, and the annotation that is not wanted any more', () => {
    const wanted = fresh(
      { 'topology.kubernetes.io/zone': '' },
      { ...modernProfile, enableControllerAttachDetach: false },
    );
    const merged = mergeRegisteredNode(fresh({ 'topology.kubernetes.io/zone': 'a' }), wanted);
    assert.equal(merged.metadata.labels?.['topology.kubernetes.io/zone'], undefined);
    assert.deepEqual(merged.metadata.annotations, {});
  });

  it('is the very same when nothing is wrong with it', () => {
    const stored = { ...fresh({ rack: '6' }), status: { capacity: { cpu: '1' }, allocatable: { cpu: '1' } } };
    assert.equal(mergeRegisteredNode(stored, fresh({})), stored);
  });
});

describe('quantities of the machine', () => {
  it('are in the shortest exact form', () => {
    assert.equal(binaryQuantity(0), '0');
    assert.equal(binaryQuantity(1_000), '1000Mi');
    assert.equal(binaryQuantity(32 * 1_024), '32Gi');
    assert.equal(binaryQuantity(1_024 ** 4), '1Ei');
  });

  it('leave what others reported beside them', () => {
    const node = { metadata: { name: 'n' }, status: { capacity: { 'example.com/gpu': '2' } } };
    const facts = { machine: deriveMachine(0), podsMax: 110, podsPerCore: 0, extended: new Map() };
    const capacity = deriveCapacity(node, facts).status?.capacity;
    assert.deepEqual([capacity?.['example.com/gpu'], capacity?.['cpu'], capacity?.['memory']], ['2', '8', '32Gi']);
  });
});
