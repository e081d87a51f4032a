import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonFor } from '../../../../src/machinery/api/api-error.ts';
import { transformLease } from '../../../../src/machinery/api/lease.ts';
import { transformNode } from '../../../../src/machinery/api/node.ts';
import { objectKey, splitKey } from '../../../../src/machinery/api/object-key.ts';
import { transformPod } from '../../../../src/machinery/api/pod.ts';
import { resourcePath, resources } from '../../../../src/machinery/api/resources.ts';
import { changeTaints } from '../../../../src/machinery/api/taints.ts';
import {
  formatMicroTime,
  formatNanoTime,
  formatTime,
  parseTimestamp,
} from '../../../../src/machinery/api/timestamps.ts';
import { tolerates } from '../../../../src/machinery/api/tolerations.ts';
import { isExcludedFromDisruption, zoneOf } from '../../../../src/machinery/api/topology.ts';

test('timestamps: whole seconds for Time, six digits for MicroTime, undefined for malformed text', () => {
  const ms = Date.parse('2026-11-21T06:42:20.987Z');
  assert.equal(formatTime(ms), '2026-11-21T06:42:20Z');
  assert.equal(formatMicroTime(ms), '2026-11-21T06:42:20.987000Z');
  assert.equal(formatMicroTime(ms + 0.25), '2026-11-21T06:42:20.987250Z');
  assert.equal(formatNanoTime(ms), '2026-11-21T06:42:20.987Z');
  assert.equal(formatNanoTime(ms - 987), '2026-11-21T06:42:20Z');
  assert.equal(parseTimestamp('2026-11-21T06:42:20.987654Z'), ms);
  for (const bad of [undefined, null, '', 'yesterday', 7, {}]) assert.equal(parseTimestamp(bad), undefined);
});

test('a node has the known marks of other tools whose value is not false, and no field without any', () => {
  const marksOf = (annotations: Readonly<Record<string, string>>): readonly string[] | undefined =>
    transformNode({ metadata: { name: 'n', uid: 'u', annotations } } as never).vetoes;
  const both = { 'karpenter.sh/do-not-repair': 'true', 'cluster.x-k8s.io/skip-remediation': '' };
  assert.deepEqual(marksOf(both), Object.keys(both));
  assert.equal(marksOf({ 'karpenter.sh/do-not-repair': 'false', 'example.com/other': 'true' }), undefined);
});

test('keys and paths', () => {
  assert.equal(objectKey('ns', 'p'), 'ns/p');
  assert.equal(objectKey(undefined, 'n'), 'n');
  assert.deepEqual(splitKey('ns/p'), { namespace: 'ns', name: 'p' });
  assert.deepEqual(splitKey('n'), { name: 'n' });
  assert.equal(resourcePath(resources.nodes, { name: 'n1', subresource: 'status' }), '/api/v1/nodes/n1/status');
  const actual = resourcePath(resources.leases, { namespace: 'kube-node-lease', name: 'n1' });
  assert.equal(actual, '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1');
  assert.equal(resourcePath(resources.pods, {}), '/api/v1/pods');
});

test('zone: beta labels take precedence if present, even if empty; empty without zone labels', () => {
  const ga = { 'topology.kubernetes.io/region': 'r1', 'topology.kubernetes.io/zone': 'z1' };
  const beta = { 'failure-domain.beta.kubernetes.io/region': 'r2', 'failure-domain.beta.kubernetes.io/zone': 'z2' };
  assert.equal(zoneOf(ga), 'r1/z1');
  assert.equal(zoneOf({ ...ga, ...beta }), 'r2/z2');
  assert.equal(zoneOf({ ...ga, 'failure-domain.beta.kubernetes.io/zone': '' }), 'r1/');
  assert.equal(zoneOf({ 'topology.kubernetes.io/region': 'r1' }), 'r1/');
  assert.equal(zoneOf({}), '');
  assert.equal(isExcludedFromDisruption({ 'node.kubernetes.io/exclude-disruption': '' }), true);
  assert.equal(isExcludedFromDisruption({}), false);
});

test('a toleration matches a taint by effect, key and value', () => {
  const taint = { key: 'k', value: 'v', effect: 'NoExecute' };
  const cases: readonly [object, boolean][] = [
    [{ operator: 'Exists' }, true],
    [{ key: 'k', operator: 'Exists' }, true],
    [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }, true],
    [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }, false],
    [{ key: 'k', value: 'v' }, true],
    [{ key: 'k', operator: 'Equal', value: 'w' }, false],
    [{ key: 'other', operator: 'Exists' }, false],
    [{ key: 'k', operator: 'Perhaps', value: 'v' }, false],
  ];
  for (const [toleration, expected] of cases)
    assert.equal(tolerates(toleration, taint), expected, JSON.stringify(toleration));
});

test('changing taints replaces in place, appends new taints, removes by key and effect', () => {
  const taints = [
    { key: 'a', effect: 'NoSchedule' },
    { key: 'b', effect: 'NoExecute', value: 'old' },
    { key: 'b', effect: 'NoSchedule' },
  ];
  const changed = changeTaints(taints, {
    add: [
      { key: 'b', effect: 'NoExecute', value: 'new' },
      { key: 'c', effect: 'NoExecute' },
    ],
    remove: [{ key: 'a', effect: 'NoSchedule' }],
  });
  assert.deepEqual(changed, [
    { key: 'b', effect: 'NoExecute', value: 'new' },
    { key: 'b', effect: 'NoSchedule' },
    { key: 'c', effect: 'NoExecute' },
  ]);
});

test('transforms accept malformed objects', () => {
  const malformed = {
    metadata: {},
    spec: { taints: null, tolerations: 'no' },
    status: { conditions: [null, 7, { type: 'Ready', status: 'True' }] },
  } as never;
  assert.deepEqual(transformNode(malformed).conditions, [{ type: 'Ready', status: 'True' }]);
  assert.deepEqual(transformNode(malformed).taints, []);
  assert.deepEqual(transformPod(malformed).tolerations, []);
  assert.equal(transformPod(malformed).ready, 'True');
  assert.equal(transformLease(malformed).renewTime, undefined);
  assert.equal(transformNode({ metadata: { name: 'n' } }).createdAtMs, 0);
});

test('the reason of a response: the Status takes precedence over the code', () => {
  assert.equal(reasonFor(409, { reason: 'AlreadyExists' }), 'already-exists');
  assert.equal(reasonFor(409, undefined), 'conflict');
  assert.equal(reasonFor(410, { reason: 'Gone' }), 'expired');
  const actual = reasonFor(504, { reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } });
  assert.equal(actual, 'too-large-resource-version');
  assert.equal(reasonFor(502, undefined), 'unavailable');
  assert.equal(reasonFor(418, undefined), 'bad-request');
});

test('of the annotations of a node only the pause is read', () => {
  const metadata = { name: 'n', uid: 'u', annotations: { 'nodelifecycle/paused': 'true', other: 'x' } };
  assert.equal(transformNode({ metadata }).pause, 'true');
  assert.ok(!('pause' in transformNode({ metadata: { ...metadata, annotations: { other: 'x' } } })));
  assert.ok(!('pause' in transformNode({ metadata: { name: 'n', uid: 'u' } })));
});
