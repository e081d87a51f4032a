import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { aPod, type Client, causesOf, openClient, revisionOf } from './client.ts';

let client: Client;
before(async () => {
  client = await openClient();
});
after(() => client.close());

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('T001 a node of nothing but a name gets uid, version and creation time from the server', async () => {
  const { metadata } = await client.node();
  assert.match(metadata.uid, uuid);
  assert.match(metadata.resourceVersion, /^[1-9]\d*$/);
  assert.match(metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});

test('T002 a second node of the same name is refused as AlreadyExists', async () => {
  const { metadata } = await client.node();
  const answer = await client.post('/api/v1/nodes', { metadata: { name: metadata.name } });
  assert.equal(answer.code, 409);
  assert.equal(answer.body.reason, 'AlreadyExists');
  assert.equal(answer.body.code, 409);
  assert.equal(answer.body.details.name, metadata.name);
  assert.equal(answer.body.details.kind, 'nodes');
});

test('T003 uid, times and selfLink in the body are ignored', async () => {
  const uid = '11111111-1111-4111-8111-111111111111';
  const past = '2001-01-01T00:00:00Z';
  const sent = { uid, creationTimestamp: past, deletionTimestamp: past, selfLink: '/x' };
  const { metadata } = await client.node({ metadata: sent });
  assert.notEqual(metadata.uid, uid);
  assert.notEqual(metadata.creationTimestamp, past);
  assert.equal(metadata.deletionTimestamp, undefined);
  assert.equal(metadata.selfLink, undefined);
});

test('T004 a resourceVersion in a create is refused with 500 and nothing is stored', async () => {
  const name = client.name('node');
  const answer = await client.post('/api/v1/nodes', { metadata: { name, resourceVersion: '5' } });
  assert.equal(answer.code, 500);
  assert.equal(answer.body.message, 'resourceVersion should not be set on objects to be created');
  assert.equal((await client.get(`/api/v1/nodes/${name}`)).code, 404);
});

test('T005 generateName appends five characters, other ones each time', async () => {
  const namespace = await client.namespace();
  const names = [];
  for (let made = 0; made < 2; made += 1) {
    const pod = aPod('unused', { metadata: { generateName: 'a-', name: undefined } });
    names.push((await client.make(`/api/v1/namespaces/${namespace}/pods`, pod)).metadata.name);
  }
  for (const name of names) assert.match(name, /^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.notEqual(names[0], names[1]);
});

test('T006 a long generateName is cut to 58 characters', async () => {
  const namespace = await client.namespace();
  const pod = aPod('unused', { metadata: { generateName: 'a'.repeat(63), name: undefined } });
  const { metadata } = await client.make(`/api/v1/namespaces/${namespace}/pods`, pod);
  assert.match(metadata.name, /^a{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('T007 a body of another namespace than the URL is refused', async () => {
  const namespace = await client.namespace();
  const pod = aPod('p', { metadata: { namespace: 'default' } });
  const answer = await client.post(`/api/v1/namespaces/${namespace}/pods`, pod);
  assert.equal(answer.code, 400);
  assert.equal(answer.body.reason, 'BadRequest');
});

test('T008 nothing can be created in a namespace that does not exist', async () => {
  const missing = client.name('missing');
  const answer = await client.post(`/api/v1/namespaces/${missing}/pods`, aPod('p'));
  assert.equal(answer.code, 404);
  assert.equal(answer.body.reason, 'NotFound');
  assert.equal(answer.body.details.kind, 'namespaces');
  assert.equal(answer.body.message, `namespaces "${missing}" not found`);
});

test('T009 nothing can be created in a namespace that is going', async () => {
  const namespace = await client.namespace();
  const deleted = await client.delete(`/api/v1/namespaces/${namespace}`);
  assert.equal(deleted.body.status.phase, 'Terminating');
  const answer = await client.post(`/api/v1/namespaces/${namespace}/pods`, aPod('p'));
  assert.equal(answer.code, 403);
  assert.deepEqual(causesOf(answer), ['NamespaceTerminating']);
});

test('T010 a body without kind and apiVersion is taken for what the URL says', async () => {
  const node = await client.node();
  assert.equal(node.kind, 'Node');
  assert.equal(node.apiVersion, 'v1');
});

test('T011 a body of another group version is refused', async () => {
  const answer = await client.post('/api/v1/nodes', { apiVersion: 'v2', kind: 'Node', metadata: { name: 'n' } });
  assert.equal(answer.code, 400);
});

test('T012 versions order writes across kinds', async () => {
  const node = await client.node();
  const namespace = await client.make('/api/v1/namespaces', { metadata: { name: client.name('ns') } });
  assert.ok(revisionOf(namespace) > revisionOf(node));
});

test('T013 a node keeps the status it is created with', async () => {
  const conditions = [{ type: 'Ready', status: 'True', reason: 'r', message: 'm' }];
  const node = await client.node({ status: { conditions } });
  const [stored] = (await client.get(`/api/v1/nodes/${node.metadata.name}`)).body.status.conditions;
  assert.equal(stored.type, 'Ready');
  assert.equal(stored.reason, 'r');
});

test('T014 a pod starts Pending, whatever its creator says', async () => {
  const pod = await client.pod(await client.namespace(), { status: { phase: 'Running' } });
  assert.equal(pod.status.phase, 'Pending');
});

test('T015 a pod gets the usual defaults', async () => {
  const containers = [
    { name: 'a', image: 'x' },
    { name: 'b', image: 'x:latest' },
    { name: 'c', image: 'x:1' },
  ];
  const { spec, status } = await client.pod(await client.namespace(), { spec: { containers } });
  assert.equal(spec.restartPolicy, 'Always');
  assert.equal(spec.dnsPolicy, 'ClusterFirst');
  assert.equal(spec.terminationGracePeriodSeconds, 30);
  assert.equal(spec.schedulerName, 'default-scheduler');
  assert.equal(spec.enableServiceLinks, true);
  assert.deepEqual(
    spec.containers.map(({ imagePullPolicy }: { imagePullPolicy: string }) => imagePullPolicy),
    ['Always', 'Always', 'IfNotPresent'],
  );
  assert.equal(status.qosClass, 'BestEffort');
});

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';
const bears = (key: string): object => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });

test('T016 a pod bears a silent node for 300 s unless it says otherwise', async () => {
  const namespace = await client.namespace();
  const tolerationsFor = async (tolerations: unknown): Promise<unknown> =>
    (await client.pod(namespace, { spec: { tolerations } })).spec.tolerations;
  assert.deepEqual(await tolerationsFor(undefined), [bears(notReady), bears(unreachable)]);
  const own = { key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 7 };
  assert.deepEqual(await tolerationsFor([own]), [own, bears(notReady)]);
  assert.deepEqual(await tolerationsFor([{ operator: 'Exists' }]), [{ operator: 'Exists' }]);
});

test('T017 a new node is tainted not-ready', async () => {
  const { spec } = await client.node();
  assert.deepEqual(spec.taints, [{ key: notReady, effect: 'NoSchedule' }]);
});

test('T018 a pod starts at generation 1', async () => {
  const { metadata } = await client.pod(await client.namespace());
  assert.equal(metadata.generation, 1);
});

test('T019 a dry run answers as if, and does nothing', async () => {
  const namespace = await client.namespace();
  const { body: list } = await client.get(`/api/v1/namespaces/${namespace}/pods`);
  const version = list.metadata.resourceVersion;
  const watch = await client.watch(`/api/v1/namespaces/${namespace}/pods?resourceVersion=${version}`);
  const answer = await client.post(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, aPod('dry'));
  assert.equal(answer.code, 201);
  assert.match(answer.body.metadata.uid, uuid);
  assert.equal(answer.body.spec.restartPolicy, 'Always');
  assert.equal((await client.get(`/api/v1/namespaces/${namespace}/pods/dry`)).code, 404);
  const wet = await client.pod(namespace);
  const [first] = await watch.take(1);
  assert.equal(first?.object.metadata.name, wet.metadata.name);
  watch.stop();
});

test('T020 a dry run of anything but All is refused', async () => {
  const answer = await client.post('/api/v1/nodes?dryRun=Foo', { metadata: { name: client.name('node') } });
  assert.equal(answer.code, 422);
});
