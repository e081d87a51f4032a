import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ApiResponse,
  causesOf,
  expect,
  type Json,
  leases,
  mergePatch,
  namesOf,
  nodePath,
  openClient,
  podPath,
  revisionOf,
  typesOf,
} from './client.ts';

const client = await openClient();

/** A pod on a node without a kubelet. */
async function boundPod(): Promise<Json> {
  return client.pod(await client.namespace(), { spec: { nodeName: client.name('nowhere') } });
}

test('T069 a deleted node is removed, and its DELETED event has a version of its own', async () => {
  const node = await client.node();
  const watch = await client.watchNode(node);
  const details = { uid: node.metadata.uid };
  expect(await client.delete(nodePath(node)), 200, { kind: 'Status', status: 'Success', details });
  expect(await client.get(nodePath(node)), 404);
  const [event] = await watch.take(1);
  assert.equal(event?.type, 'DELETED');
  assert.ok(revisionOf(event?.object) > revisionOf(node));
});

test('T070 an unscheduled pod is removed at once', async () => {
  const pod = await client.pod(await client.namespace());
  expect(await client.delete(podPath(pod)), 200, { kind: 'Pod' });
  expect(await client.get(podPath(pod)), 404);
});

test('T071 a pod on a node gets its grace period', async () => {
  const pod = await boundPod();
  const before = Date.now();
  const metadata = { deletionGracePeriodSeconds: 30, generation: pod.metadata.generation + 1 };
  const { deletionTimestamp } = expect(await client.delete(podPath(pod)), 200, { metadata }).metadata;
  const leftMs = Date.parse(deletionTimestamp) - before;
  assert.ok(leftMs > 28_000 && leftMs < 32_000, `${leftMs} ms`);
  expect(await client.get(podPath(pod)), 200);
});

test('T072 a second deletion can only shorten the grace period', async () => {
  const pod = await boundPod();
  const first = await client.delete(podPath(pod));
  const shorter = await client.delete(podPath(pod), { gracePeriodSeconds: 5 });
  assert.equal(shorter.body.metadata.deletionGracePeriodSeconds, 5);
  assert.ok(shorter.body.metadata.deletionTimestamp < first.body.metadata.deletionTimestamp);
  const longer = await client.delete(podPath(pod), { gracePeriodSeconds: 100 });
  assert.equal(longer.body.metadata.resourceVersion, shorter.body.metadata.resourceVersion);
});

test('T073 grace period 0 removes a running pod at once', async () => {
  const pod = await boundPod();
  const { namespace, resourceVersion } = pod.metadata;
  const watch = await client.watch(`/api/v1/namespaces/${namespace}/pods?resourceVersion=${resourceVersion}`);
  expect(await client.delete(podPath(pod), { gracePeriodSeconds: 0 }), 200);
  expect(await client.get(podPath(pod)), 404);
  const events = await watch.until(({ type }) => type === 'DELETED');
  // A server may mark the pod before it removes it.
  for (const { type, object } of events.slice(0, -1)) {
    assert.deepEqual([events.length, type, object.metadata.deletionGracePeriodSeconds], [2, 'MODIFIED', 0]);
  }
});

test('T074 options in the query are ignored if there is a body', async () => {
  const pod = await boundPod();
  const { body } = await client.delete(`${podPath(pod)}?gracePeriodSeconds=0`, { preconditions: {} });
  assert.equal(body.metadata.deletionGracePeriodSeconds, 30);
  expect(await client.get(podPath(pod)), 200);
});

test('T075 failed preconditions are conflicts', async () => {
  const pod = await boundPod();
  const uid = '33333333-3333-4333-8333-333333333333';
  expect(await client.delete(podPath(pod), { preconditions: { uid } }), 409);
  expect(await client.delete(podPath(pod), { preconditions: { resourceVersion: '1' } }), 409);
  assert.equal((await client.get(podPath(pod))).body.metadata.resourceVersion, pod.metadata.resourceVersion);
  expect(await client.delete(podPath(pod), { preconditions: { uid: pod.metadata.uid } }), 200);
});

test('T076 an object with a finalizer stays until the finalizer is removed', async () => {
  const node = await client.node({ metadata: { finalizers: ['example.com/hold'] } });
  const watch = await client.watchNode(node);
  const setFinalizers = (finalizers: unknown): Promise<ApiResponse> =>
    client.patch(nodePath(node), mergePatch, { metadata: { finalizers } });
  expect(await client.delete(nodePath(node)), 200);
  assert.ok((await client.get(nodePath(node))).body.metadata.deletionTimestamp);
  const rejected = await setFinalizers(['example.com/hold', 'example.com/more']);
  expect(rejected, 422);
  assert.deepEqual(causesOf(rejected), ['FieldValueForbidden']);
  expect(await setFinalizers(null), 200);
  expect(await client.get(nodePath(node)), 404);
  assert.deepEqual(typesOf(await watch.take(2)), ['MODIFIED', 'DELETED']);
});

test('T078 deletecollection deletes the selected objects', async () => {
  const collection = leases(await client.namespace());
  await client.make(collection, { metadata: { name: 'a', labels: { pick: 'yes' } } });
  await client.make(collection, { metadata: { name: 'b' } });
  expect(await client.delete(`${collection}?labelSelector=pick=yes`), 200, { kind: 'LeaseList' });
  assert.deepEqual(namesOf(await client.get(collection)), ['b']);
});

test('T079 a dry-run deletion keeps the object', async () => {
  const node = await client.node();
  expect(await client.delete(nodePath(node), { dryRun: ['All'] }), 200);
  const { body } = await client.get(nodePath(node));
  assert.equal(body.metadata.resourceVersion, node.metadata.resourceVersion);
});

test('T080 an object created again with the same name has another uid', async () => {
  const node = await client.node();
  const watch = await client.watchNode(node);
  await client.delete(nodePath(node));
  const again = await client.make('/api/v1/nodes', { metadata: { name: node.metadata.name } });
  assert.notEqual(again.metadata.uid, node.metadata.uid);
  const events = await watch.take(2);
  assert.deepEqual(typesOf(events), ['DELETED', 'ADDED']);
  const seen = events.map(({ object }) => object.metadata.uid);
  assert.deepEqual(seen, [node.metadata.uid, again.metadata.uid]);
});

/** DeleteOptions of gracePeriodSeconds 0 as a Go client encodes them. */
const protobufOptions = Buffer.concat([
  Buffer.from([0x6b, 0x38, 0x73, 0x00, 0x0a, 0x13, 0x0a, 0x02]),
  Buffer.from('v1'),
  Buffer.from([0x12, 0x0d]),
  Buffer.from('DeleteOptions'),
  Buffer.from([0x12, 0x02, 0x08, 0x00, 0x1a, 0x00, 0x22, 0x00]),
]);

test('T081 delete options in protobuf work like those in JSON', async () => {
  const pod = await boundPod();
  const type = 'application/vnd.kubernetes.protobuf';
  expect(await client.send('DELETE', podPath(pod), { body: protobufOptions, type }), 200);
  expect(await client.get(podPath(pod)), 404);
});

test('T077 T082 T083 a missing object, the default namespace and contradictory options are rejected', async () => {
  expect(await client.delete('/api/v1/nodes/none'), 404);
  expect(await client.delete('/api/v1/namespaces/default'), 403);
  const options = { orphanDependents: true, propagationPolicy: 'Background' };
  expect(await client.delete(nodePath(await client.node()), options), 422);
});

test('T124 a pod is bound once, and not while it is being deleted', async () => {
  const namespace = await client.namespace();
  const pod = await client.pod(namespace);
  const bind = async (to: Json, uid?: string): Promise<number> => {
    const metadata = { name: to.metadata.name, ...(uid === undefined ? {} : { uid }) };
    return (await client.post(`${podPath(to)}/binding`, { metadata, target: { kind: 'Node', name: 'n1' } })).code;
  };
  assert.equal(await bind(pod, '44444444-4444-4444-8444-444444444444'), 409);
  assert.equal(await bind(pod), 201);
  const { body } = await client.get(podPath(pod));
  assert.equal(body.spec.nodeName, 'n1');
  assert.equal(body.status.conditions.find(({ type }: Json) => type === 'PodScheduled').status, 'True');
  assert.equal(await bind(pod), 409);
  const held = await client.pod(namespace, { metadata: { finalizers: ['example.com/hold'] } });
  await client.delete(podPath(held));
  assert.equal(await bind(held), 409);
  await client.patch(podPath(held), mergePatch, { metadata: { finalizers: null } });
});

test('T125 an evicted pod gets the DisruptionTarget condition and its grace period', async () => {
  const pod = await boundPod();
  const { name, namespace } = pod.metadata;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions: {} };
  expect(await client.post(`${podPath(pod)}/eviction`, eviction), 201);
  const { body } = await client.get(podPath(pod));
  assert.equal(body.metadata.deletionGracePeriodSeconds, 30);
  const condition = body.status.conditions.find(({ type }: Json) => type === 'DisruptionTarget');
  assert.equal(condition.reason, 'EvictionByEvictionAPI');
});

test('an eviction that is meant for another pod of the same name is a conflict, and the pod stays as it is', async () => {
  const pod = await boundPod();
  const { name, namespace, resourceVersion } = pod.metadata;
  const deleteOptions = { preconditions: { uid: 'of-another-pod' } };
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
  expect(await client.post(`${podPath(pod)}/eviction`, eviction), 409);
  assert.equal((await client.get(podPath(pod))).body.metadata.resourceVersion, resourceVersion);
});

test('T133 an eviction must have the name of the pod in the URL', async () => {
  const pod = await boundPod();
  expect(await client.post(`${podPath(pod)}/eviction`, { metadata: { name: 'other' } }), 400);
  const missing = `/api/v1/namespaces/${pod.metadata.namespace}/pods/none/eviction`;
  expect(await client.post(missing, { metadata: { name: 'none' } }), 404);
});
