/** Addresses and node ports of Services, and what becomes of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect, type Json, mergePatch, openClient } from './client.ts';

const client = await openClient();
const ports = [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }];
const selector = { app: 'web' };

interface Made {
  readonly path: string;
  readonly object: Json;
}

async function make(spec: Json): Promise<Made> {
  const collection = `/api/v1/namespaces/${await client.namespace()}/services`;
  const object = await client.make(collection, { metadata: { name: client.name('svc') }, spec });
  return { path: `${collection}/${object.metadata.name}`, object };
}

async function change(path: string, spec: Json): Promise<Json> {
  return expect(await client.patch(path, mergePatch, { spec }), 200).spec;
}

test('two Services have two addresses, and a deleted one frees its own', async () => {
  const first = await make({ selector, ports });
  const second = await make({ selector, ports });
  assert.match(first.object.spec.clusterIP, /^10\.\d+\.\d+\.\d+$/);
  assert.deepEqual(first.object.spec.clusterIPs, [first.object.spec.clusterIP]);
  assert.notEqual(second.object.spec.clusterIP, first.object.spec.clusterIP);
  const { clusterIP } = first.object.spec;
  const taken = await client.post(second.path.replace(/\/[^/]*$/, ''), {
    metadata: { name: client.name('svc') },
    spec: { selector, ports, clusterIP },
  });
  assert.match(expect(taken, 422).message, /failed to allocate IP [\d.]+: provided IP is already allocated/);
  expect(await client.delete(first.path), 200);
  const again = await make({ selector, ports, clusterIP });
  assert.equal(again.object.spec.clusterIP, clusterIP);
});

test('an update without address and node port keeps them', async () => {
  const { path, object } = await make({ type: 'NodePort', selector, ports });
  const [{ nodePort }] = object.spec.ports;
  assert.ok(nodePort >= 30_000 && nodePort <= 32_767, String(nodePort));
  const body = { metadata: { name: object.metadata.name }, spec: { type: 'NodePort', selector: { app: 'b' }, ports } };
  const { spec } = expect(await client.put(path, body), 200);
  assert.deepEqual(
    [spec.clusterIP, spec.ports[0].nodePort, spec.selector],
    [object.spec.clusterIP, nodePort, body.spec.selector],
  );
});

test('a Service that is a ClusterIP again has no node ports', async () => {
  const { path, object } = await make({ type: 'NodePort', selector, ports });
  const spec = await change(path, { type: 'ClusterIP' });
  assert.deepEqual([spec.ports[0].nodePort, spec.externalTrafficPolicy], [undefined, undefined]);
  assert.equal(spec.clusterIP, object.spec.clusterIP);
  const back = await change(path, { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  assert.ok(back.ports[0].nodePort >= 30_000);
  assert.ok(back.healthCheckNodePort >= 30_000 && back.healthCheckNodePort !== back.ports[0].nodePort);
  assert.equal(back.allocateLoadBalancerNodePorts, true);
});

test('a Service that becomes an ExternalName has no address, and gets one afterwards', async () => {
  const { path } = await make({ selector, ports });
  const named = await change(path, { type: 'ExternalName', externalName: 'web.example' });
  assert.deepEqual([named.clusterIP, named.clusterIPs, named.ipFamilies], [undefined, undefined, undefined]);
  const back = await change(path, { type: 'ClusterIP', externalName: null });
  assert.match(back.clusterIP, /^10\./);
  assert.deepEqual([back.ipFamilies, back.ipFamilyPolicy], [['IPv4'], 'SingleStack']);
});

test('a node port that was chosen is used, for another protocol also by the same Service', async () => {
  const taken = (await make({ type: 'NodePort', selector, ports })).object.spec.ports[0].nodePort;
  const collection = `/api/v1/namespaces/${await client.namespace()}/services`;
  const spec = { type: 'NodePort', selector, ports: [{ port: 80, nodePort: taken }] };
  const response = await client.post(collection, { metadata: { name: client.name('svc') }, spec });
  assert.match(expect(response, 422).message, /nodePort: Invalid value: \d+: provided port is already allocated/);
  const both = ['TCP', 'UDP'].map((protocol) => ({
    name: protocol.toLowerCase(),
    protocol,
    port: 53,
    nodePort: 30_053,
  }));
  const { object, path } = await make({ type: 'NodePort', selector, ports: both });
  assert.deepEqual(
    object.spec.ports.map(({ nodePort }: Json) => nodePort),
    [30_053, 30_053],
  );
  expect(await client.delete(path), 200);
});

test('a PUT creates a Service that does not exist', async () => {
  const name = client.name('svc');
  const path = `/api/v1/namespaces/${await client.namespace()}/services/${name}`;
  const made = expect(await client.put(path, { metadata: { name }, spec: { selector, ports } }), 201);
  assert.match(made.spec.clusterIP, /^10\./);
});

test('a Service can be listed by its type and address', async () => {
  const { path, object } = await make({ selector, ports });
  const collection = path.replace(/\/[^/]*$/, '');
  for (const [field, count] of [
    ['spec.type=ClusterIP', 1],
    ['spec.type=NodePort', 0],
    [`spec.clusterIP=${object.spec.clusterIP}`, 1],
  ] as const) {
    const { items } = expect(await client.get(`${collection}?fieldSelector=${encodeURIComponent(field)}`), 200);
    assert.equal(items.length, count, field);
  }
});

test('a dry run that takes the load balancer from a Service leaves its status as it is', async () => {
  const accept = 'application/vnd.kubernetes.protobuf';
  const { path } = await make({ selector, ports, type: 'LoadBalancer' });
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
  // In protobuf: the server makes no JSON of the object before the last line.
  assert.equal((await client.patch(`${path}/status`, mergePatch, { status }, { accept })).code, 200);
  const spec = { type: 'ClusterIP' };
  assert.equal((await client.patch(`${path}?dryRun=All`, mergePatch, { spec }, { accept })).code, 200);
  const { ingress } = expect(await client.get(path), 200).status.loadBalancer;
  assert.deepEqual(ingress, [{ ip: '192.0.2.1', ipMode: 'VIP' }]);
});
