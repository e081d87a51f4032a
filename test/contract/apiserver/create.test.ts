import assert from 'node:assert/strict';
import { test } from 'node:test';
import { only } from './backend.ts';
import { type ApiResponse, aPod, causesOf, expect, type Json, nodePath, openClient, revisionOf } from './client.ts';

const client = await openClient();

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('T001 a node with only a name gets uid, resourceVersion and creationTimestamp', async () => {
  const { metadata } = await client.node();
  assert.match(metadata.uid, uuid);
  assert.match(metadata.resourceVersion, /^[1-9]\d*$/);
  assert.match(metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});

test('T002 a second node of the same name is rejected with AlreadyExists', async () => {
  const { metadata } = await client.node();
  const details = { name: metadata.name, kind: 'nodes' };
  const response = await client.post('/api/v1/nodes', { metadata: { name: metadata.name } });
  expect(response, 409, { reason: 'AlreadyExists', code: 409, details });
});

test('T003 uid, times and selfLink in the body are ignored', async () => {
  const uid = '11111111-1111-4111-8111-111111111111';
  const past = '2001-01-01T00:00:00Z';
  const sent = { uid, creationTimestamp: past, deletionTimestamp: past, selfLink: '/x' };
  const { metadata } = await client.node({ metadata: sent });
  assert.notEqual(metadata.uid, uid);
  assert.notEqual(metadata.creationTimestamp, past);
  assert.deepEqual([metadata.deletionTimestamp, metadata.selfLink], [undefined, undefined]);
});

test('T004 a create with a resourceVersion is rejected with 500, and nothing is stored', async () => {
  const name = client.name('node');
  const message = 'resourceVersion should not be set on objects to be created';
  expect(await client.post('/api/v1/nodes', { metadata: { name, resourceVersion: '5' } }), 500, { message });
  expect(await client.get(`/api/v1/nodes/${name}`), 404);
});

test('T005 T006 generateName, truncated to 58 characters, gets five random ones', async () => {
  const suffixed = /^(.*)[bcdfghjklmnpqrstvwxz2456789]{5}$/;
  const generate = async (generateName: string): Promise<string> => {
    const pod = await client.pod(namespace, { metadata: { generateName, name: undefined } });
    return pod.metadata.name;
  };
  const namespace = await client.namespace();
  const names = [await generate('a-'), await generate('a-')];
  for (const name of names) assert.equal(suffixed.exec(name)?.[1], 'a-');
  assert.notEqual(names[0], names[1]);
  assert.equal(suffixed.exec(await generate('a'.repeat(63)))?.[1], 'a'.repeat(58));
});

test('T007 T008 T009 a create in another, a missing or a terminating namespace is rejected', async () => {
  const namespace = await client.namespace();
  const create = (into: string, metadata: object = {}): Promise<ApiResponse> =>
    client.post(`/api/v1/namespaces/${into}/pods`, aPod('p', { metadata }));
  expect(await create(namespace, { namespace: 'default' }), 400, { reason: 'BadRequest' });
  const missing = client.name('missing');
  const message = `namespaces "${missing}" not found`;
  expect(await create(missing), 404, { reason: 'NotFound', message, details: { kind: 'namespaces' } });
  expect(await client.delete(`/api/v1/namespaces/${namespace}`), 200, { status: { phase: 'Terminating' } });
  const response = await create(namespace);
  expect(response, 403);
  assert.deepEqual(causesOf(response), ['NamespaceTerminating']);
});

test('T010 T011 a body without kind and apiVersion gets those of the URL; those of another version are rejected', async () => {
  assert.partialDeepStrictEqual(await client.node(), { kind: 'Node', apiVersion: 'v1' });
  expect(await client.post('/api/v1/nodes', { apiVersion: 'v2', kind: 'Node', metadata: { name: 'n' } }), 400);
});

test('T012 versions order writes across kinds', async () => {
  const node = await client.node();
  const namespace = await client.make('/api/v1/namespaces', { metadata: { name: client.name('ns') } });
  assert.ok(revisionOf(namespace) > revisionOf(node));
});

test('T013 T014 a node keeps the status it is created with, a pod starts Pending', async () => {
  const status = { conditions: [{ type: 'Ready', status: 'True', reason: 'r', message: 'm' }] };
  const node = await client.node({ status });
  expect(await client.get(nodePath(node)), 200, { status });
  const pod = await client.pod(await client.namespace(), { status: { phase: 'Running' } });
  assert.equal(pod.status.phase, 'Pending');
});

test('T015 T018 a pod gets the default values and starts at generation 1', async () => {
  const images = ['x', 'x:latest', 'x:1'];
  const containers = images.map((image, index) => ({ name: `c${index}`, image }));
  const { metadata, spec, status } = await client.pod(await client.namespace(), { spec: { containers } });
  assert.partialDeepStrictEqual(spec, {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    terminationGracePeriodSeconds: 30,
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
    containers: ['Always', 'Always', 'IfNotPresent'].map((imagePullPolicy) => ({ imagePullPolicy })),
  });
  assert.equal(status.qosClass, 'BestEffort');
  assert.equal(metadata.generation, 1);
});

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';
const bears = (key: string): object => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });

test('a mirror pod gets no service account, and one that refers to API objects is rejected', {
  skip: only('embedded', 'the real one runs without the admission plugin ServiceAccount'),
}, async () => {
  const namespace = await client.namespace();
  const create = (spec: Json): Promise<ApiResponse> => {
    const annotations = { 'kubernetes.io/config.mirror': 'abc' };
    const metadata = { name: client.name('mirror'), annotations };
    return client.post(`/api/v1/namespaces/${namespace}/pods`, aPod(metadata.name, { metadata, spec }));
  };
  const { spec } = expect(await create({ nodeName: 'n1' }), 201);
  assert.deepEqual([spec.serviceAccountName, spec.serviceAccount], [undefined, undefined]);
  const volume = (source: Json): Json => ({ nodeName: 'n1', volumes: [{ name: 'v', ...source }] });
  const rejected: readonly (readonly [spec: Json, why: string])[] = [
    [{ nodeName: 'n1', serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    [volume({ secret: { secretName: 'x' } }), 'a mirror pod may not reference secrets'],
    [{ nodeName: 'n1', imagePullSecrets: [{ name: 'x' }] }, 'a mirror pod may not reference secrets'],
    [
      volume({ projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }),
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ];
  for (const [given, why] of rejected) {
    const { reason, message } = expect(await create(given), 403);
    assert.equal(reason, 'Forbidden');
    assert.match(message, new RegExp(`^pods "mirror-.*" is forbidden: ${why}$`));
  }
});

test('T016 a pod gets tolerations of 300 s for the not-ready and unreachable taints unless it has its own', async () => {
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

test('T019 a dry run returns the result and stores nothing', async () => {
  const namespace = await client.namespace();
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const watch = await client.watchChanges(pods);
  const dry = expect(await client.post(`${pods}?dryRun=All`, aPod('dry')), 201, { spec: { restartPolicy: 'Always' } });
  assert.match(dry.metadata.uid, uuid);
  expect(await client.get(`${pods}/dry`), 404);
  const wet = await client.pod(namespace);
  const [first] = await watch.take(1);
  assert.equal(first?.object.metadata.name, wet.metadata.name);
});

test('T020 a dryRun value other than All is rejected', async () => {
  expect(await client.post('/api/v1/nodes?dryRun=Foo', { metadata: { name: client.name('node') } }), 422);
});

test('a new pod with scheduling gates has the condition that says so', async () => {
  const gates = { schedulingGates: [{ name: 'example.com/wait' }] };
  const pods = `/api/v1/namespaces/${await client.namespace()}/pods`;
  const { metadata, status } = expect(await client.post(pods, aPod(client.name('pod'), { spec: gates })), 201);
  assert.deepEqual(status.conditions, [
    {
      type: 'PodScheduled',
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: metadata.creationTimestamp,
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    },
  ]);
  const { status: plain } = expect(await client.post(pods, aPod(client.name('pod'))), 201);
  assert.equal(plain.conditions, undefined);
});
