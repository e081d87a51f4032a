import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../../../src/machinery/api/node.ts';
import type { EvidenceOrder } from '../../../../src/controller/out-of-service/decide-order.ts';
import { EvidenceWatch, type NodeSighting } from '../../../../src/controller/out-of-service/evidence-watch.ts';
import { selectEvidence } from '../../../../src/controller/out-of-service/select-evidence.ts';
import { aNodeView } from '../../../support/builders.ts';

const rule = { conditions: ['Fenced'], taints: ['example.com/off'] };
const off = { key: 'example.com/off', effect: 'NoSchedule' };
const postedAt = '2026-11-24T10:00:00Z';

function aNode(status: string, over: Partial<NodeView> = {}): NodeView {
  const ready = { type: 'Ready', status, lastHeartbeatTime: postedAt, lastTransitionTime: postedAt };
  return aNodeView({ name: 'n', uid: 'u', bootID: 'b1', resourceVersion: '7', conditions: [ready], ...over });
}

function heartbeatOf(renewTime: string | undefined, heartbeatSinceUnknown = false): NodeSighting['heartbeat'] {
  return {
    readyHeartbeat: postedAt,
    lease: renewTime === undefined ? undefined : { renewTime, resourceVersion: '5' },
    heartbeatSinceUnknown,
  };
}

/** Evidence arrives on a node that was in this state before. */
function arriving(before: NodeView | undefined, over: Partial<NodeSighting> = {}): EvidenceWatch {
  const watch = new EvidenceWatch(() => rule);
  watch.observe({ node: fenced, before, heartbeat: heartbeatOf('r1'), isFresh: true, ...over });
  return watch;
}

const fenced = aNode('Unknown', { taints: [off] });

function orderIn(watch: EvidenceWatch, node = fenced): EvidenceOrder | undefined {
  const [evidence] = selectEvidence(node, rule);
  return evidence && watch.orderOf(node, evidence);
}

test('evidence that arrives while the watches are fresh is younger than the last heartbeat', () => {
  assert.equal(orderIn(arriving(aNode('True'))), 'newer');
  assert.equal(orderIn(arriving(aNode('True'), { isFresh: false })), 'unknown', 'it may have been set at any time');
});

test('evidence that arrives on a node that was Unknown before is younger, however late it arrives', () => {
  assert.equal(orderIn(arriving(aNode('Unknown'), { isFresh: false })), 'newer');
  const renewed = heartbeatOf('r1', true);
  assert.equal(orderIn(arriving(aNode('Unknown'), { isFresh: false, heartbeat: renewed })), 'unknown');
});

test('evidence that was there first has no known order, whether of the node, the policy or the heartbeat', () => {
  assert.equal(orderIn(arriving(undefined)), 'unknown', 'found by this process');
  assert.equal(orderIn(arriving(aNode('Unknown', { uid: 'another' }))), 'unknown', 'on another node of this name');
  assert.equal(orderIn(arriving(fenced)), 'unknown', 'before a policy used it');
  assert.equal(orderIn(arriving(aNode('Unknown', { bootID: 'b0' }))), 'unknown', 'with the report of a boot');
  const [ready] = fenced.conditions;
  assert.ok(ready !== undefined);
  const posted = aNode('True', { conditions: [{ ...ready, lastHeartbeatTime: '2026-11-24T09:59:00Z' }] });
  assert.equal(orderIn(arriving(posted)), 'unknown', 'with a status of the kubelet');
  assert.equal(orderIn(new EvidenceWatch(() => rule)), 'unknown', 'never seen');
});

test('a heartbeat after it disproves it by whichever channel, until it is removed and set again', () => {
  for (const heartbeat of [heartbeatOf('r2'), { ...heartbeatOf('r1'), readyHeartbeat: '2026-11-24T10:05:00Z' }]) {
    const watch = arriving(aNode('Unknown'));
    watch.observeHeartbeat('n', heartbeatOf('r1'));
    assert.equal(orderIn(watch), 'newer', 'not a heartbeat');
    watch.observeHeartbeat('n', heartbeat);
    assert.equal(orderIn(watch), 'disproved');
    watch.observe({ node: fenced, before: fenced, heartbeat, isFresh: true });
    assert.equal(orderIn(watch), 'disproved', 'still there');
    watch.observe({ node: aNode('Unknown'), before: fenced, heartbeat, isFresh: true });
    assert.equal(watch.size, 0);
    watch.observe({ node: fenced, before: aNode('Unknown'), heartbeat, isFresh: true });
    assert.equal(orderIn(watch), 'newer');
  }
});

test('the first lease is a heartbeat after evidence that arrived, not after evidence that was found with the node', () => {
  const found = arriving(undefined, { heartbeat: heartbeatOf(undefined) });
  const arrived = arriving(aNode('Unknown'), { heartbeat: heartbeatOf(undefined) });
  for (const watch of [found, arrived]) watch.observeHeartbeat('n', heartbeatOf('r1'));
  assert.deepEqual([orderIn(found), orderIn(arrived)], ['unknown', 'disproved']);
});

test('a state of the node that is older than the last renewal shows no order', () => {
  const late = { ...fenced, resourceVersion: '4' };
  assert.equal(orderIn(arriving(aNode('True'), { node: late })), 'unknown');
  assert.equal(orderIn(arriving(aNode('Unknown'), { node: late, isFresh: false })), 'unknown');
  const opaque = { ...fenced, resourceVersion: 'x' };
  assert.equal(orderIn(arriving(aNode('True'), { node: opaque })), 'newer', 'where versions cannot be compared');
});

test('a time that is written while evidence stays is no appearance, and not the time of one', () => {
  const watch = arriving(aNode('Unknown'));
  watch.observeHeartbeat('n', heartbeatOf('r2'));
  const rewritten = aNode('Unknown', { taints: [{ ...off, timeAdded: '2026-11-24T11:00:00Z' }] });
  watch.observe({ node: rewritten, before: fenced, heartbeat: heartbeatOf('r2'), isFresh: true });
  assert.equal(orderIn(watch, rewritten), 'disproved');
  const [before] = selectEvidence(fenced, rule);
  const [after] = selectEvidence(rewritten, rule);
  assert.ok(before !== undefined && after !== undefined);
  assert.deepEqual(
    [before, after].map((evidence) => watch.isTimeRewritten(fenced, evidence)),
    [false, true],
  );
  assert.equal(new EvidenceWatch(() => rule).isTimeRewritten(fenced, after), false, 'never seen');
});

test('a live read of the lease confirms or disproves it', () => {
  const watch = arriving(aNode('Unknown'));
  assert.equal(watch.confirm('n', 'r1'), true);
  assert.equal(watch.confirm('n', undefined), true, 'no lease: no kubelet renews it');
  assert.equal(watch.confirm('n', 'r2'), false);
  assert.equal(orderIn(watch), 'disproved');
  assert.equal(watch.confirm('other', 'r1'), false, 'nothing is known of it');
});

test('a node without evidence, or without a rule, is not remembered', () => {
  const watch = new EvidenceWatch(() => undefined);
  watch.observe({ node: fenced, before: undefined, heartbeat: heartbeatOf('r1'), isFresh: true });
  assert.equal(watch.size, 0);
});
