import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountsAsJson } from '../../../../src/apiserver/quota/merge-amounts.ts';
import { podEvaluator } from '../../../../src/apiserver/quota/pod-evaluator.ts';
import { usageAt } from '../../../../src/apiserver/quota/select-scopes.ts';
import type { Draft } from '../../../../src/apiserver/storage/stored-object.ts';

const containers = [
  {
    name: 'c',
    resources: {
      requests: { cpu: '1', 'example.com/gpu': '2', 'hugepages-2Mi': '2Mi', 'kubernetes.io/x': '1' },
      limits: { 'ephemeral-storage': '1Gi', 'example.com/gpu': '2' },
    },
  },
];
const usageOf = (pod: Draft, nowMs = 0) => amountsAsJson(usageAt(podEvaluator.measure(pod), nowMs));

test('a pod uses its requests under two names, its limits, and what is requested of devices', () => {
  assert.deepEqual(usageOf({ metadata: {}, spec: { containers } }), {
    'count/pods': '1',
    cpu: '1',
    'hugepages-2Mi': '2Mi',
    'limits.ephemeral-storage': '1Gi',
    pods: '1',
    'requests.cpu': '1',
    'requests.example.com/gpu': '2',
    'requests.hugepages-2Mi': '2Mi',
  });
});

test('a pod that has ended is only stored, as is one whose grace period is over twice', () => {
  const ended = { 'count/pods': '1' };
  for (const phase of ['Failed', 'Succeeded']) {
    assert.deepEqual(usageOf({ metadata: {}, spec: { containers }, status: { phase } }), ended);
  }
  const metadata = { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 };
  const overMs = Date.parse('2026-01-01T00:01:00Z');
  assert.equal(usageOf({ metadata, spec: { containers } }, overMs)['pods'], '1');
  assert.deepEqual(usageOf({ metadata, spec: { containers } }, overMs + 1), ended);
});

test('the names that pods use', () => {
  const measured = ['pods', 'count/pods', 'limits.memory', 'hugepages-1Gi', 'requests.hugepages-1Gi', 'requests.a.b/c'];
  const others = ['requests.storage', 'count/pods.apps', 'a.b/c', 'gold.storageclass.storage.k8s.io/requests.storage'];
  const all = [...measured, 'requests.deviceclass.resource.kubernetes.io/gpu', ...others];
  assert.deepEqual(
    all.filter((name) => podEvaluator.measures(name)),
    all.slice(0, -others.length),
  );
});

test('the scopes of a pod', () => {
  const scopesOf = (spec: Record<string, unknown>, status = {}) =>
    [...podEvaluator.measure({ metadata: {}, spec, status }).scopes.names].join(' ');
  assert.equal(scopesOf({}), 'NotTerminating BestEffort');
  assert.equal(scopesOf({ activeDeadlineSeconds: 0, containers }), 'Terminating NotBestEffort');
  assert.equal(
    scopesOf({ priorityClassName: 'high' }, { qosClass: 'Burstable' }),
    'NotTerminating NotBestEffort PriorityClass',
  );
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const near = { podAffinity: { [required]: [{ topologyKey: 'zone' }] } };
  assert.equal(scopesOf({ affinity: near }), 'NotTerminating BestEffort');
  const far = { podAntiAffinity: { [required]: [{ topologyKey: 'zone', namespaceSelector: {} }] } };
  assert.equal(scopesOf({ affinity: far }), 'NotTerminating BestEffort CrossNamespacePodAffinity');
});
