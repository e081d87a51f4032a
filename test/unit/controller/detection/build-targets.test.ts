import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transformNode } from '../../../../src/machinery/api/node.ts';
import { buildKubeletTargets, buildPodTarget } from '../../../../src/controller/detection/build-targets.ts';

const addresses = [
  { type: 'Hostname', address: 'web-7' },
  { type: 'ExternalIP', address: '203.0.113.7' },
  { type: 'InternalIP', address: '10.0.0.7' },
  { type: 'InternalIP', address: 'fd00::7' },
];
const targetsOf = (status: object): unknown =>
  buildKubeletTargets(transformNode({ metadata: { name: 'web-7', uid: 'u' }, status }));

test('a kubelet: all internal addresses, else the external ones, never a name', () => {
  const daemonEndpoints = { kubeletEndpoint: { Port: 10_255 } };
  const both = [
    { address: '10.0.0.7', port: 10_255 },
    { address: 'fd00::7', port: 10_255 },
  ];
  assert.deepEqual(targetsOf({ addresses, daemonEndpoints }), both);
  assert.deepEqual(targetsOf({ addresses: addresses.slice(0, 2) }), [{ address: '203.0.113.7', port: 10_250 }]);
  assert.deepEqual(targetsOf({ addresses: addresses.slice(0, 1) }), []);
  assert.deepEqual(targetsOf({}), []);
});

test('a port of 0 is none, and what is malformed is left out', () => {
  const daemonEndpoints = { kubeletEndpoint: { Port: 0 } };
  const malformed = [null, 7, { type: 'InternalIP' }, { type: 'InternalIP', address: 'x'.repeat(65) }];
  assert.deepEqual(targetsOf({ addresses: [...malformed, ...addresses], daemonEndpoints }), [
    { address: '10.0.0.7', port: 10_250 },
    { address: 'fd00::7', port: 10_250 },
  ]);
  assert.deepEqual(targetsOf({ addresses: 'none', daemonEndpoints: { kubeletEndpoint: null } }), []);
});

test('a pod: its first TCP port, else any; none on the network of its node', () => {
  const containers = [{ name: 'dns', ports: [{ containerPort: 53, protocol: 'UDP' }, { containerPort: 8080 }] }];
  assert.deepEqual(buildPodTarget({ spec: { containers }, status: { podIP: '10.244.1.7' } }), {
    address: '10.244.1.7',
    port: 8080,
  });
  assert.deepEqual(buildPodTarget({ spec: {}, status: { podIP: '10.244.1.7' } }), { address: '10.244.1.7', port: 80 });
  assert.equal(buildPodTarget({ spec: { hostNetwork: true }, status: { podIP: '10.0.0.7' } }), undefined);
  assert.equal(buildPodTarget({ spec: {}, status: {} }), undefined);
});
