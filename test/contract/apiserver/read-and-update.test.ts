import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ApiResponse,
  causesOf,
  expect,
  type Json,
  jsonPatch,
  leases,
  mergePatch,
  nodePath,
  openClient,
  podPath,
  revisionOf,
  strategicPatch,
  typesOf,
} from './client.ts';

const client = await openClient();

const leasePath = ({ metadata }: Json): string => `${leases(metadata.namespace)}/${metadata.name}`;

/** The events of one object while `act` runs, up to a marker event that ends the wait. */
async function changesOf(collection: string, name: string, act: () => Promise<void>): Promise<readonly string[]> {
  const watch = await client.watchChanges(collection, `&fieldSelector=metadata.name=${name}`);
  await act();
  const marked = await client.patch(`${collection}/${name}`, mergePatch, {
    metadata: { annotations: { marker: 'x' } },
  });
  const events = await watch.until(({ object }) => revisionOf(object) === revisionOf(marked.body));
  return typesOf(events.slice(0, -1));
}

test('T021 T024 T025 a missing object, an unknown path and an unsupported method', async () => {
  const node = expect(await client.get('/api/v1/nodes/none'), 404, { kind: 'Status', reason: 'NotFound' });
  assert.equal(node.message, 'nodes "none" not found');
  assert.deepEqual(node.details, { name: 'none', kind: 'nodes' });
  const lease = expect(await client.get(`${leases('default')}/none`), 404);
  assert.equal(lease.message, 'leases.coordination.k8s.io "none" not found');
  assert.deepEqual(lease.details, { name: 'none', group: 'coordination.k8s.io', kind: 'leases' });
  assert.equal(expect(await client.get('/there/is/nothing'), 404)?.kind, undefined);
  expect(await client.put('/api/v1/nodes', { metadata: { name: 'x' } }), 405, { reason: 'MethodNotAllowed' });
});

test('T022 an object is read at resourceVersion 0 and at the current one', async () => {
  const node = await client.node();
  for (const version of ['0', node.metadata.resourceVersion]) {
    const response = await client.get(`${nodePath(node)}?resourceVersion=${version}`);
    assert.equal(response.body.metadata.uid, node.metadata.uid);
  }
});

test('T023 a read at a future version waits, up to its limit', async () => {
  const node = await client.node();
  const started = performance.now();
  const response = await client.get(`${nodePath(node)}?resourceVersion=${revisionOf(node) + 1_000_000}`);
  const tookMs = performance.now() - started;
  expect(response, 504, { reason: 'Timeout' });
  assert.deepEqual(causesOf(response), ['ResourceVersionTooLarge']);
  assert.equal(response.headers['retry-after'], '1');
  assert.ok(tookMs > 1_900 && tookMs < 6_000, `took ${tookMs} ms`);
});

test('T026 of two writers with the same version one gets a conflict', async () => {
  const node = await client.node();
  const write = (label: string): Promise<ApiResponse> =>
    client.put(nodePath(node), { ...node, metadata: { ...node.metadata, labels: { label } } });
  const [first, second] = [await write('first'), await write('second')];
  assert.ok(revisionOf(expect(first, 200)) > revisionOf(node));
  assert.match(expect(second, 409, { reason: 'Conflict' }).message, /the object has been modified/);
});

test('T027 T028 a PUT without a resourceVersion overwrites a node, and is rejected for a lease', async () => {
  const node = await client.node();
  const labels = { a: 'b' };
  const metadata = { ...node.metadata, resourceVersion: undefined, labels };
  expect(await client.put(nodePath(node), { ...node, metadata }), 200, { metadata: { labels } });
  const lease = await client.lease(await client.namespace());
  const unversioned = { ...lease, metadata: { ...lease.metadata, resourceVersion: undefined } };
  const details = { causes: [{ field: 'metadata.resourceVersion' }] };
  expect(await client.put(leasePath(lease), unversioned), 422, { details });
});

test('resourceVersion 0 of a written object is none', async () => {
  const node = await client.node();
  const labels = { a: 'b' };
  const zero = { resourceVersion: '0', labels };
  expect(await client.put(nodePath(node), { ...node, metadata: { ...node.metadata, ...zero } }), 200, {
    metadata: { labels },
  });
  const patched = expect(await client.patch(nodePath(node), mergePatch, { metadata: { resourceVersion: '0' } }), 200);
  assert.ok(revisionOf(patched) > revisionOf(node));
  const lease = await client.lease(await client.namespace());
  const unversioned = { ...lease, metadata: { ...lease.metadata, resourceVersion: '0' } };
  expect(await client.put(leasePath(lease), unversioned), 422, {
    details: { causes: [{ field: 'metadata.resourceVersion' }] },
  });
  const created = { metadata: { name: client.name('node'), resourceVersion: '0' } };
  assert.ok(revisionOf(expect(await client.post('/api/v1/nodes', created), 201)) > 0);
});

test('T029 T030 a PUT and a patch without changes create no version and no event', async () => {
  const node = await client.node({ metadata: { labels: { a: 'b' } } });
  const { name, resourceVersion, labels } = node.metadata;
  const events = await changesOf('/api/v1/nodes', name, async () => {
    expect(await client.put(nodePath(node), node), 200, { metadata: { resourceVersion } });
    expect(await client.patch(nodePath(node), mergePatch, { metadata: { labels } }), 200, {
      metadata: { resourceVersion },
    });
  });
  assert.deepEqual(events, []);
});

const otherUid = '22222222-2222-4222-8222-222222222222';

test('T031 T032 a PUT or patch with another uid is rejected', async () => {
  const node = await client.node();
  const metadata = { ...node.metadata, uid: otherUid };
  expect(await client.put(nodePath(node), { ...node, metadata }), 409);
  const { code } = await client.patch(nodePath(node), mergePatch, { metadata: { uid: otherUid } });
  assert.ok([409, 422].includes(code), String(code));
  const { uid, resourceVersion } = node.metadata;
  expect(await client.get(nodePath(node)), 200, { metadata: { uid, resourceVersion } });
});

const ready = (status: string): object => ({ conditions: [{ type: 'Ready', status }] });

test('T033 T034 the main endpoint changes the spec alone, the status endpoint the status alone', async () => {
  const node = await client.node({ status: ready('True') });
  const changed = { ...node, spec: { ...node.spec, unschedulable: true }, status: ready('False') };
  const put = await client.put(`${nodePath(node)}/status`, changed);
  assert.equal(expect(put, 200, { status: ready('False') }).spec.unschedulable, undefined);
  const patch = { spec: { unschedulable: true }, status: ready('Unknown') };
  const patched = await client.patch(`${nodePath(node)}/status`, strategicPatch, patch);
  assert.equal(expect(patched, 200, { status: ready('Unknown') }).spec.unschedulable, undefined);
  const { metadata } = patched.body;
  const main = await client.put(nodePath(node), { ...changed, metadata });
  expect(main, 200, { spec: { unschedulable: true }, status: ready('Unknown') });
});

test('T035 T036 the status endpoint changes labels of a node, but not owners of a pod', async () => {
  const node = await client.node();
  const metadata = { labels: { a: 'b' } };
  expect(await client.patch(`${nodePath(node)}/status`, mergePatch, { metadata }), 200, { metadata });
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: otherUid };
  const pod = await client.pod(await client.namespace(), { metadata: { ownerReferences: [owner] } });
  const { body } = await client.patch(`${podPath(pod)}/status`, mergePatch, { metadata: { ownerReferences: null } });
  assert.deepEqual(body.metadata.ownerReferences, [owner]);
});

test('T037 T038 T039 a PUT of a missing lease creates it, without the uid of a deleted one; of a node it is 404', async () => {
  const lease = await client.lease(await client.namespace());
  await client.delete(leasePath(lease));
  expect(await client.put(leasePath(lease), lease), 409);
  expect(await client.put(leasePath(lease), { ...lease, metadata: { ...lease.metadata, uid: undefined } }), 201);
  const path = `${leases(lease.metadata.namespace)}/new`;
  expect(await client.put(path, { metadata: { name: 'new' }, spec: { holderIdentity: 'me' } }), 201);
  const name = client.name('node');
  expect(await client.put(`/api/v1/nodes/${name}`, { metadata: { name } }), 404);
});

test('a JSON patch on a property that an object inherits is 422, and the server goes on', async () => {
  const data = `/api/v1/namespaces/${await client.namespace()}/configmaps`;
  await client.make(data, { metadata: { name: 'c' }, data: { a: '1' } });
  for (const path of ['/data/hasOwnProperty/call', '/metadata/constructor/prototype/x', '/data/__proto__/x']) {
    for (let time = 0; time < 2; time += 1) {
      const patch = [{ op: 'add', path, value: 'x' }];
      expect(await client.patch(`${data}/c?dryRun=All`, jsonPatch, patch), 422, { reason: 'Invalid' });
    }
  }
  assert.deepEqual((await client.get(`${data}/c`)).body.data, { a: '1' });
});

test('a JSON patch whose copies double the object 40 times is 422', async () => {
  const data = `/api/v1/namespaces/${await client.namespace()}/configmaps`;
  await client.make(data, { metadata: { name: 'c' }, data: { a: '1' } });
  const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/data', path: `/data/b${index}` }));
  expect(await client.patch(`${data}/c?dryRun=All`, jsonPatch, doubling), 422, { reason: 'Invalid' });
});

test('T040 clients can neither set nor clear the deletionTimestamp', async () => {
  const node = await client.node();
  const deletionTimestamp = '2030-01-01T00:00:00Z';
  const set = await client.put(nodePath(node), { ...node, metadata: { ...node.metadata, deletionTimestamp } });
  expect(set, 422);
  assert.equal((await client.get(nodePath(node))).body.metadata.deletionTimestamp, undefined);
  const held = await client.node({ metadata: { finalizers: ['example.com/hold'] } });
  await client.delete(nodePath(held));
  const { body: dying } = await client.get(nodePath(held));
  const { deletionTimestamp: at, ...metadata } = dying.metadata;
  const cleared = await client.put(nodePath(held), { ...dying, metadata });
  assert.equal(cleared.body.metadata.deletionTimestamp, at);
  await client.patch(nodePath(held), mergePatch, { metadata: { finalizers: null } });
});

function daemonSet(name: string): Json {
  const labels = { app: 'x' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
  return { metadata: { name }, spec: { selector: { matchLabels: labels }, template } };
}

test('T041 the generation counts changes of the spec', async () => {
  const namespace = await client.namespace();
  const collection = `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
  const made = await client.make(collection, daemonSet('ds'));
  assert.equal(made.metadata.generation, 1);
  const generationAfter = async (path: string, patch: unknown): Promise<number> =>
    (await client.patch(`${collection}/ds${path}`, mergePatch, patch)).body.metadata.generation;
  assert.equal(await generationAfter('', { metadata: { labels: { a: 'b' } } }), 1);
  assert.equal(await generationAfter('/status', { status: { desiredNumberScheduled: 3 } }), 1);
  assert.equal(await generationAfter('', { spec: { minReadySeconds: 5 } }), 2);
});

test('T042 T053 only a few fields of a pod can change', async () => {
  const pod = await client.pod(await client.namespace(), { spec: { nodeName: 'n1' } });
  const change = (type: string, spec: object): Promise<ApiResponse> => client.patch(podPath(pod), type, { spec });
  expect(await change(mergePatch, { nodeName: 'n2' }), 422);
  const { tolerations } = expect(await change(strategicPatch, { containers: [{ name: 'c', image: 'x:2' }] }), 200).spec;
  const own = { key: 'k', operator: 'Exists' };
  expect(await change(mergePatch, { tolerations: [...tolerations, own] }), 200);
  expect(await change(mergePatch, { tolerations }), 422);
  // A strategic merge patch replaces the list as well.
  expect(await change(strategicPatch, { tolerations: [{ key: 'other', operator: 'Exists' }] }), 422);
});

test('T044 T045 a JSON patch that does not apply changes nothing, and must be a list', async () => {
  const node = await client.node();
  const patch = (operations: unknown): Promise<ApiResponse> => client.patch(nodePath(node), jsonPatch, operations);
  const podCidrs = { op: 'add', path: '/spec/podCIDRs', value: ['10.0.0.0/24'] };
  expect(await patch([podCidrs, { op: 'add', path: '/metadata/nothing/x', value: 'y' }]), 422);
  const unschedulable = { op: 'add', path: '/spec/unschedulable', value: true };
  expect(await patch([unschedulable, { op: 'test', path: '/metadata/name', value: 'other' }]), 422);
  expect(await patch({ metadata: { labels: { a: 'b' } } }), 400);
  const { resourceVersion } = node.metadata;
  expect(await client.get(nodePath(node)), 200, { metadata: { resourceVersion } });
});

test('T046 a merge patch deletes fields with null and replaces lists', async () => {
  const taints = ['a', 'b'].map((key) => ({ key, effect: 'NoSchedule' }));
  const node = await client.node({ metadata: { labels: { a: '1', b: '2' } }, spec: { taints } });
  const patch = { metadata: { labels: { a: null } }, spec: { taints: [taints[1]] } };
  const { metadata, spec } = expect(await client.patch(nodePath(node), mergePatch, patch), 200);
  assert.deepEqual([metadata.labels, spec.taints], [{ b: '2' }, [taints[1]]]);
});

test('T047 T048 T049 a strategic merge patch changes, adds and removes single conditions', async () => {
  const conditions = ['MemoryPressure', 'Ready', 'DiskPressure'].map((type) => ({ type, status: 'False' }));
  const node = await client.node({ status: { conditions } });
  const after = async (patch: unknown): Promise<readonly string[]> => {
    const { body } = await client.patch(`${nodePath(node)}/status`, strategicPatch, { status: { conditions: patch } });
    return body.status.conditions.map(({ type, status }: Json) => `${type}=${status}`);
  };
  const ready = ['MemoryPressure=False', 'Ready=True', 'DiskPressure=False'];
  assert.deepEqual(await after([{ type: 'Ready', status: 'True' }]), ready);
  assert.deepEqual(new Set(await after([{ type: 'New', status: 'True' }])), new Set([...ready, 'New=True']));
  assert.deepEqual(await after([{ type: 'New', $patch: 'delete' }]), ready);
});

test('T050 T051 a strategic merge patch replaces the whole list of taints', async () => {
  const taints = ['a', 'b'].map((key) => ({ key, effect: 'NoSchedule' }));
  const node = await client.node({ spec: { taints } });
  const only = [{ key: 'c', value: 'v', effect: 'NoExecute' }];
  const replaced = await client.patch(nodePath(node), strategicPatch, { spec: { taints: only } });
  assert.deepEqual(replaced.body.spec.taints, only);
  const none = await client.patch(nodePath(node), strategicPatch, { spec: { taints: null } });
  assert.deepEqual(none.body.spec.taints ?? [], []);
});

test('T052 the resourceVersion in a patch is compared', async () => {
  const node = await client.node();
  const { resourceVersion } = node.metadata;
  const label = (a: string): Promise<ApiResponse> =>
    client.patch(nodePath(node), strategicPatch, { metadata: { resourceVersion, labels: { a } } });
  expect(await label('b'), 200);
  expect(await label('c'), 409, { reason: 'Conflict' });
});

test('T054 T055 containers are merged by name and ordered by $setElementOrder', async () => {
  const containers = ['c', 'd'].map((name) => ({ name, image: 'i:1' }));
  const pod = await client.pod(await client.namespace(), { spec: { containers } });
  const change = { spec: { containers: [{ name: 'd', image: 'i:2' }] } };
  const { spec, metadata } = expect(await client.patch(podPath(pod), strategicPatch, change), 200);
  assert.deepEqual(spec.containers.map(({ name, image }: Json) => `${name} ${image}`).join(), 'c i:1,d i:2');
  const stray = { spec: { '$setElementOrder/containers': [{ name: 'c' }], ...change.spec } };
  const rejected = await client.patch(podPath(pod), strategicPatch, stray);
  assert.ok(rejected.code >= 400);
  const { resourceVersion } = metadata;
  expect(await client.get(podPath(pod)), 200, { metadata: { resourceVersion } });
});

test('T056 T057 finalizers are merged as a set, owners by uid', async () => {
  const owner = (name: string, uid: string): object => ({ apiVersion: 'v1', kind: 'Node', name, uid });
  const finalizers = ['example.com/a', 'example.com/b'];
  const node = await client.node({ metadata: { finalizers, ownerReferences: [owner('a', otherUid)] } });
  const removed = { '$deleteFromPrimitiveList/finalizers': ['example.com/b'] };
  const added = { finalizers: ['example.com/c'], ownerReferences: [owner('b', otherUid.replaceAll('2', '3'))] };
  const { body } = await client.patch(nodePath(node), strategicPatch, { metadata: { ...removed, ...added } });
  assert.deepEqual(new Set(body.metadata.finalizers), new Set(['example.com/a', 'example.com/c']));
  assert.deepEqual(new Set(body.metadata.ownerReferences.map(({ name }: Json) => name)), new Set(['a', 'b']));
  await client.patch(nodePath(node), mergePatch, { metadata: { finalizers: null } });
});

test('T058 the selector of a disruption budget is replaced', async () => {
  const collection = `/apis/policy/v1/namespaces/${await client.namespace()}/poddisruptionbudgets`;
  const name = client.name('pdb');
  const spec = { minAvailable: 1, selector: { matchLabels: { a: 'b' } } };
  await client.make(collection, { metadata: { name }, spec });
  const patch = { spec: { selector: { matchLabels: { c: 'd' } } } };
  const { body } = await client.patch(`${collection}/${name}`, strategicPatch, patch);
  assert.deepEqual(body.spec, { minAvailable: 1, selector: { matchLabels: { c: 'd' } } });
});

test('T059 addresses of the same type are kept if the list is replaced', async () => {
  const node = await client.node();
  const addresses = ['10.0.0.1', '10.0.0.2'].map((address) => ({ type: 'InternalIP', address }));
  const patch = { status: { addresses: [{ $patch: 'replace' }, ...addresses] } };
  const { body } = await client.patch(`${nodePath(node)}/status`, strategicPatch, patch);
  assert.deepEqual(body.status.addresses, addresses);
});

test('T043 T060 T061 T062 a write with another name, an unsupported type, force or a missing object is rejected', async () => {
  const node = await client.node();
  expect(await client.put(nodePath(node), { ...node, metadata: { ...node.metadata, name: 'other' } }), 400);
  for (const type of ['application/json', null]) {
    expect(await client.patch(nodePath(node), type, '{}'), 415, { reason: 'UnsupportedMediaType' });
  }
  // It requires server-side apply.
  expect(await client.patch(`${nodePath(node)}?force=true`, mergePatch, {}), 422);
  for (const type of [mergePatch, strategicPatch]) expect(await client.patch('/api/v1/nodes/none', type, {}), 404);
  expect(await client.patch('/api/v1/nodes/none', jsonPatch, []), 404);
});

test('T063 a hundred patches without versions all succeed', async () => {
  const node = await client.node();
  const patches = Array.from({ length: 100 }, (_, index) =>
    client.patch(nodePath(node), mergePatch, { metadata: { labels: { [`l${index}`]: 'x' } } }),
  );
  for (const { code } of await Promise.all(patches)) assert.equal(code, 200);
  const { body } = await client.get(nodePath(node));
  assert.equal(Object.keys(body.metadata.labels).filter((label) => label.startsWith('l')).length, 100);
});

test('T064 an unknown field is rejected, warned about or ignored, and never stored', async () => {
  const spec = { foo: 1 };
  const send = (validation: string): Promise<ApiResponse> =>
    client.post(`/api/v1/nodes?fieldValidation=${validation}`, { metadata: { name: client.name('node') }, spec });
  assert.match(expect(await send('Strict'), 400).message, /unknown field "spec\.foo"/);
  const warned = await send('Warn');
  expect(warned, 201);
  assert.match(String(warned.headers['warning']), /^299 - "unknown field \\"spec\.foo\\""/);
  const ignored = await send('Ignore');
  assert.equal(expect(ignored, 201).spec.foo, undefined);
  assert.equal(ignored.headers['warning'], undefined);
  const node = await client.node();
  const patched = await client.patch(`${nodePath(node)}?fieldValidation=Strict`, mergePatch, { spec });
  assert.ok([400, 422].includes(patched.code));
  assert.match(patched.body.message, /spec\.foo/);
});

test('the phase of a namespace follows from its deletion', async () => {
  const name = client.name('phase');
  await client.make('/api/v1/namespaces', { metadata: { name } });
  const path = `/api/v1/namespaces/${name}/status`;
  const refused = expect(await client.patch(path, mergePatch, { status: { phase: 'Terminating' } }), 422);
  assert.equal(
    refused.message,
    `Namespace "${name}" is invalid: status.Phase: Invalid value: "Terminating": may only be 'Active' if \`deletionTimestamp\` is empty`,
  );
});
