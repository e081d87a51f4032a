import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAmounts } from '../../../../src/apiserver/quota/merge-amounts.ts';
import { hasPodLevelResources, podLimits, podRequests } from '../../../../src/apiserver/quota/merge-pod-resources.ts';

const container = (name: string, cpu: string, more: object = {}) => ({
  name,
  resources: { requests: { cpu }, limits: { cpu } },
  ...more,
});
const podOf = (spec: Record<string, unknown>, status: Record<string, unknown> = {}) => ({ metadata: {}, spec, status });
const requestsOf = (...args: Parameters<typeof podOf>) => formatAmounts(podRequests(podOf(...args)));
const sidecar = { restartPolicy: 'Always' };

test('containers and sidecars run together, init containers beside the sidecars before them', () => {
  const containers = [container('a', '1'), container('b', '2')];
  assert.equal(requestsOf({ containers }), 'cpu=3');
  assert.equal(requestsOf({ containers, initContainers: [container('i', '2500m')] }), 'cpu=3');
  assert.equal(requestsOf({ containers, initContainers: [container('i', '4')] }), 'cpu=4');
  const before = [container('s', '2', sidecar), container('i', '4')];
  assert.equal(requestsOf({ containers, initContainers: before }), 'cpu=6');
  assert.equal(requestsOf({ containers, initContainers: before.toReversed() }), 'cpu=5');
});

test('the overhead is added to requests, and to limits other than zero', () => {
  const pod = podOf({ containers: [container('a', '0')], overhead: { cpu: '1', memory: '1Mi' } });
  assert.equal(formatAmounts(podRequests(pod)), 'cpu=1,memory=1Mi');
  assert.equal(formatAmounts(podLimits(pod)), 'cpu=0');
  assert.equal(formatAmounts(podLimits(podOf({ ...pod.spec, containers: [container('a', '1')] }))), 'cpu=2');
});

test('resources of the pod level replace those of containers', () => {
  const pod = podOf({
    containers: [container('a', '1')],
    resources: { requests: { cpu: '3', 'example.com/gpu': '1' }, limits: {} },
  });
  assert.equal(formatAmounts(podRequests(pod)), 'cpu=3');
  assert.equal(formatAmounts(podLimits(pod)), 'cpu=1');
  assert.equal(hasPodLevelResources(pod), true);
  assert.equal(hasPodLevelResources(podOf({ resources: { requests: { 'example.com/gpu': '1' } } })), false);
});

test('during a resize the highest of wanted, allocated and actual resources counts, unless it is infeasible', () => {
  const spec = { containers: [container('a', '1')] };
  const state = {
    name: 'a',
    resources: { requests: { cpu: '2' }, limits: { cpu: '2' } },
    allocatedResources: { cpu: '3' },
  };
  const status = { containerStatuses: [state] };
  assert.equal(requestsOf(spec, status), 'cpu=3');
  assert.equal(formatAmounts(podLimits(podOf(spec, status))), 'cpu=2');
  const large = { containers: [container('a', '9')] };
  assert.equal(requestsOf(large, status), 'cpu=9');
  const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }];
  assert.equal(requestsOf(large, { ...status, conditions }), 'cpu=3');
});
