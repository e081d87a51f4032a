import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeEvaluator } from '../../../../src/apiserver/quota/evaluators.ts';
import { amountsAsJson } from '../../../../src/apiserver/quota/merge-amounts.ts';
import type { Draft } from '../../../../src/apiserver/storage/stored-object.ts';

function usageOf(table: string, spec: Record<string, unknown>, rest: Partial<Draft> = {}): Record<string, string> {
  const evaluator = makeEvaluator(table);
  assert.ok(evaluator);
  return amountsAsJson(evaluator.measure({ metadata: {}, spec, ...rest }).usage);
}

test('most objects are counted, some under two names, and events never', () => {
  assert.deepEqual(usageOf('deployments.apps', {}), { 'count/deployments.apps': '1' });
  assert.deepEqual(usageOf('secrets', {}), { 'count/secrets': '1', secrets: '1' });
  assert.equal(makeEvaluator('events'), undefined);
});

test('node ports count as wanted', () => {
  const ports = [{ port: 1 }, { port: 2, nodePort: 30_001 }];
  const counts = (spec: Record<string, unknown>) => {
    const usage = usageOf('services', { ports, ...spec });
    return [usage['services.nodeports'], usage['services.loadbalancers']];
  };
  assert.deepEqual(counts({ type: 'ClusterIP' }), ['0', '0']);
  assert.deepEqual(counts({ type: 'NodePort' }), ['2', '0']);
  assert.deepEqual(counts({ type: 'LoadBalancer' }), ['2', '1']);
  assert.deepEqual(counts({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }), ['1', '1']);
});

test('storage is counted in whole bytes, by class, and as allocated if that is more', () => {
  const claim = (storage: string) => ({ resources: { requests: { storage } }, storageClassName: 'gold' });
  const usage = usageOf('persistentvolumeclaims', claim('1500m'));
  assert.equal(usage['requests.storage'], '2');
  assert.equal(usage['gold.storageclass.storage.k8s.io/requests.storage'], '2');
  assert.equal(usage['gold.storageclass.storage.k8s.io/persistentvolumeclaims'], '1');
  const annotated = { metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } } };
  const beta = usageOf('persistentvolumeclaims', claim('1Gi'), annotated);
  assert.equal(beta['old.storageclass.storage.k8s.io/requests.storage'], '1Gi');
  const status = { allocatedResources: { storage: '2Gi' } };
  assert.equal(usageOf('persistentvolumeclaims', claim('1Gi'), { status })['requests.storage'], '2Gi');
});

test('devices count by class, and of alternatives the most of each', () => {
  const exact = (deviceClassName: string, count: number) => ({ deviceClassName, allocationMode: 'ExactCount', count });
  const requests = [
    { name: 'a', exactly: exact('gpu', 2) },
    { name: 'b', exactly: { deviceClassName: 'nic', allocationMode: 'All' } },
    { name: 'c', firstAvailable: [exact('gpu', 1), exact('gpu', 4), exact('fpga', 1)] },
  ];
  assert.deepEqual(usageOf('resourceclaims.resource.k8s.io', { devices: { requests } }), {
    'count/resourceclaims.resource.k8s.io': '1',
    'fpga.deviceclass.resource.k8s.io/devices': '1',
    'gpu.deviceclass.resource.k8s.io/devices': '6',
    'nic.deviceclass.resource.k8s.io/devices': '32',
  });
});
