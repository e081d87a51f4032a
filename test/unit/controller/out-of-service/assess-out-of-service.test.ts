import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../../../src/machinery/api/node.ts';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import type { OutOfServiceState } from '../../../../src/controller/model/out-of-service.ts';
import type { EvidenceOrder } from '../../../../src/controller/out-of-service/decide-order.ts';
import { assessOutOfService } from '../../../../src/controller/out-of-service/assess-out-of-service.ts';
import { aNodeView } from '../../../support/builders.ts';

const rule = { conditions: ['Fenced'], taints: ['node.cloudprovider.kubernetes.io/shutdown'] };
const shutdown: Taint = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };
const unreachable: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const outOfService: Taint = {
  key: 'node.kubernetes.io/out-of-service',
  value: 'node-lifecycle-controller',
  effect: 'NoExecute',
};
const postedAt = '2026-11-24T10:00:00Z';
const record = JSON.stringify({ bootID: 'boot-1', evidence: 'taint example.com/off', addedAt: postedAt });

function ready(status: string): NodeView['conditions'][number] {
  return { type: 'Ready', status, lastHeartbeatTime: postedAt, lastTransitionTime: postedAt };
}

/** An unreachable node that was evicted, with a label that allows the taint. */
function aFencedNode(over: Partial<NodeView> = {}): NodeView {
  return aNodeView({
    labels: { 'nodelifecycle/out-of-service': 'allowed' },
    taints: [unreachable, shutdown],
    conditions: [ready('Unknown')],
    bootID: 'boot-1',
    ...over,
  });
}

const orderOf = (): EvidenceOrder => 'newer';

function assess(node: NodeView, isSilent = true): OutOfServiceState {
  return assessOutOfService(node, { rule, isSilent, orderOf });
}

/** By the order of each source; those that are not listed are younger than the last heartbeat. */
function assessOrdered(over: Partial<NodeView>, orders: Readonly<Record<string, EvidenceOrder>>): OutOfServiceState {
  return assessOutOfService(aFencedNode(over), {
    rule,
    isSilent: true,
    orderOf: ({ source }) => orders[source] ?? 'newer',
  });
}

function kindOf(over: Partial<NodeView>, isSilent = true): string {
  return assess(aFencedNode(over), isSilent).kind;
}

function fenced(at: string, status = 'True'): NodeView['conditions'] {
  return [ready('Unknown'), { type: 'Fenced', status, lastTransitionTime: at }];
}

test('an unreachable, evicted node that is proven to be fenced is due, with the evidence', () => {
  const evidence = 'taint node.cloudprovider.kubernetes.io/shutdown';
  assert.deepEqual(assess(aFencedNode()), { kind: 'due', evidence });
});

test('nothing follows without a rule, and without exactly this value of the label', () => {
  assert.deepEqual(assessOutOfService(aFencedNode(), { rule: undefined, isSilent: true, orderOf }), { kind: 'none' });
  for (const value of ['', 'true', 'Allowed', 'denied'])
    assert.equal(kindOf({ labels: { 'nodelifecycle/out-of-service': value } }), 'none', value);
  assert.equal(kindOf({ labels: {} }), 'none');
});

test('silence alone proves nothing, for however long', () => {
  assert.equal(kindOf({ taints: [unreachable] }), 'unproven');
});

test('a node that is not silent, not Unknown, or not evicted yet is not due', () => {
  assert.equal(kindOf({}, false), 'not-unreachable');
  assert.equal(kindOf({ conditions: [ready('False')] }), 'not-unreachable');
  assert.equal(kindOf({ conditions: [ready('True')] }), 'not-unreachable');
  assert.equal(kindOf({ taints: [shutdown] }), 'not-unreachable');
  assert.equal(kindOf({ taints: [shutdown, { ...unreachable, effect: 'NoSchedule' }] }), 'not-unreachable');
});

test('without a boot ID its return could not be noticed', () => {
  assert.equal(kindOf({ bootID: '' }), 'no-boot-id');
  assert.equal(kindOf({ bootID: '', fenced: '', taints: [unreachable] }), 'unproven', 'an empty one names no boot');
});

test('the annotation counts for the boot that it names', () => {
  assert.deepEqual(assess(aFencedNode({ taints: [unreachable], fenced: 'boot-1' })), {
    kind: 'due',
    evidence: 'annotation nodelifecycle/fenced',
  });
  assert.equal(kindOf({ taints: [unreachable], fenced: 'boot-0' }), 'unproven', 'of an earlier outage');
});

test('a condition counts while it is True', () => {
  const taints = [unreachable];
  const at = '2026-11-24T10:00:30Z';
  assert.deepEqual(assess(aFencedNode({ taints, conditions: fenced(at) })), {
    kind: 'due',
    evidence: 'condition Fenced',
  });
  assert.equal(kindOf({ taints, conditions: fenced(at, 'False') }), 'unproven');
  const other = [ready('Unknown'), { type: 'Other', status: 'True', lastTransitionTime: at }];
  assert.equal(kindOf({ taints, conditions: other }), 'unproven');
});

test('only evidence that is younger than the last heartbeat proves it, and one is enough', () => {
  const taint = 'taint node.cloudprovider.kubernetes.io/shutdown';
  const condition = 'condition Fenced';
  const both = { conditions: fenced('2026-11-24T10:00:30Z') };
  const all = (order: EvidenceOrder): Record<string, EvidenceOrder> => ({ [taint]: order, [condition]: order });
  assert.deepEqual(assessOrdered(both, all('disproved')), { kind: 'disproved', evidence: condition, isEvicted: true });
  assert.deepEqual(assessOrdered(both, { ...all('disproved'), [taint]: 'unknown' }), {
    kind: 'unordered',
    evidence: taint,
    isEvicted: true,
  });
  assert.deepEqual(assessOrdered(both, { [condition]: 'disproved' }), { kind: 'due', evidence: taint });
  const waiting = assessOrdered({ taints: [shutdown] }, all('unknown'));
  assert.deepEqual(waiting, { kind: 'unordered', evidence: taint, isEvicted: false });
});

test('a taint of another client is left alone', () => {
  assert.equal(kindOf({ taints: [unreachable, shutdown, { ...outOfService, effect: 'NoSchedule' }] }), 'foreign');
});

test('what was added stays until another boot has reported itself, whatever the policy and the label say', () => {
  const tainted = { taints: [unreachable, outOfService], outOfService: record, labels: {} };
  const without = (over: Partial<NodeView>, isSilent = true): string =>
    assessOutOfService(aFencedNode({ ...tainted, ...over }), { rule: undefined, isSilent, orderOf }).kind;
  assert.equal(without({}), 'in-place');
  assert.equal(without({ conditions: [ready('False')] }, false), 'in-place');
  assert.equal(without({ bootID: '' }), 'in-place');
  assert.equal(without({ conditions: [ready('True')] }, false), 'same-boot');
  assert.equal(without({ conditions: [ready('True')] }), 'in-place', 'Ready in the cache, and silent');
  assert.equal(without({ bootID: 'boot-2', conditions: [ready('True')] }, false), 'back');
  assert.equal(without({ bootID: 'boot-2' }), 'back', 'it was back, and is silent again');
});

test('a taint that another client removed is not added for the same boot again', () => {
  assert.equal(kindOf({ outOfService: record }), 'removed-by-other');
});

test('a malformed record changes nothing', () => {
  const malformed = [
    '',
    '{',
    '[]',
    'null',
    '{"bootID":"","evidence":"e","addedAt":"a"}',
    '{"bootID":"b"}',
    'x'.repeat(2_000),
  ];
  for (const text of malformed) assert.equal(kindOf({ outOfService: text }), 'malformed', text.slice(0, 40));
});
