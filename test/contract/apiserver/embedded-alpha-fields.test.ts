/**
 * Fields of Kubernetes 1.37 behind feature gates, which the embedded server stores: kube-apiserver drops them where the gate is off.
 * What a cluster with the gate has in its objects is not lost when they are loaded here.
 * With the gates EvictionRequestAPI and InPlacePodVerticalScalingSchedulerPreemption kube-apiserver 1.37.2 passes these tests too.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify as toYaml } from 'yaml';
import { encodeEnvelope } from '../../../src/hollow-cluster/apiserver/codec/protobuf-encoder.ts';
import { toWireForm } from '../../../src/hollow-cluster/apiserver/codec/wire-form.ts';
import {
  aPod,
  expect,
  type Json,
  jsonPatch,
  mergePatch,
  nodePath,
  openClient,
  podPath,
  strategicPatch,
} from './client.ts';
import { assertBothFormats, protobufType } from './protobuf-answers.ts';

const client = await openClient();
const applyPatch = 'application/apply-patch+yaml';
const yaml = 'application/yaml';
const evictionResponders = [
  { name: 'ci.example.com/checkpoint', priority: 10_000 },
  { name: 'db.example.com/failover', priority: 1_000 },
];
const podPreemptionPolicy = { disableResizePreemption: ['autoscaler.example.com/vpa', 'ops'] };

const podsOf = async (): Promise<string> => `/api/v1/namespaces/${await client.namespace()}/pods`;
const ofPod = (pod: Json): unknown => pod.spec.evictionResponders;
const ofNode = (node: Json): unknown => node.spec.podPreemptionPolicy;

function aNode(name: string): Json {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { podPreemptionPolicy } };
}

function respondingPod(name: string): Json {
  return { apiVersion: 'v1', kind: 'Pod', ...aPod(name, { spec: { evictionResponders } }) };
}

/** The object as each kind of body that a client may send. */
function bodiesOf(object: Json): readonly (readonly [type: string, body: unknown])[] {
  const { object: wire } = toWireForm(object.apiVersion, object.kind, object);
  return [
    ['application/json', object],
    [yaml, toYaml(object)],
    [protobufType, encodeEnvelope({ apiVersion: object.apiVersion, kind: object.kind }, wire)],
  ];
}

for (const [index, format] of ['JSON', 'YAML', 'protobuf'].entries()) {
  test(`eviction responders of a pod are stored from ${format} and answered in JSON and protobuf`, async () => {
    const pods = await podsOf();
    const [type, body] = bodiesOf(respondingPod('a'))[index] ?? assert.fail();
    const strict = `${pods}?fieldValidation=Strict`;
    assert.deepEqual(ofPod(expect(await client.post(strict, body, { type }), 201)), evictionResponders);
    const read = await assertBothFormats((accept) => client.get(`${pods}/a`, { accept }));
    assert.deepEqual(ofPod(read.body), evictionResponders);
  });

  test(`the preemption policy of a node is stored from ${format} and answered in JSON and protobuf`, async () => {
    const node = aNode(client.name('node'));
    const [type, body] = bodiesOf(node)[index] ?? assert.fail();
    const strict = '/api/v1/nodes?fieldValidation=Strict';
    assert.deepEqual(ofNode(expect(await client.post(strict, body, { type }), 201)), podPreemptionPolicy);
    const read = await assertBothFormats((accept) => client.get(nodePath(node), { accept }));
    assert.deepEqual(ofNode(read.body), podPreemptionPolicy);
  });
}

test('eviction responders survive updates, patches and status writes of their pod', async () => {
  const pod = expect(await client.post(await podsOf(), respondingPod('a')), 201);
  const path = podPath(pod);
  const labelled = { ...pod, metadata: { ...pod.metadata, labels: { a: 'b' } } };
  const answers = [
    await client.put(path, labelled),
    await client.patch(path, mergePatch, { metadata: { labels: { a: 'c' } } }),
    await client.patch(path, jsonPatch, [{ op: 'replace', path: '/metadata/labels/a', value: 'd' }]),
    await client.patch(path, strategicPatch, { metadata: { labels: { a: 'e' } } }),
    await client.patch(`${path}/status`, mergePatch, { status: { phase: 'Running' } }),
  ];
  for (const answer of answers) assert.deepEqual(ofPod(expect(answer, 200)), evictionResponders);
});

test('eviction responders of a template are merged by name, and owned by name', async () => {
  const labels = { app: 'a' };
  const [first, second] = evictionResponders;
  const template = (responders: readonly unknown[]): Json => ({
    metadata: { labels },
    spec: { ...aPod('a').spec, evictionResponders: responders },
  });
  const workloads = `/apis/apps/v1/namespaces/${await client.namespace()}/deployments`;
  const meta = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } };
  const apply = (manager: string, body: Json): Promise<Json> =>
    client.patch(`${workloads}/a?fieldManager=${manager}`, applyPatch, { ...meta, spec: body });
  expect(await apply('one', { selector: { matchLabels: labels }, template: template([first]) }), 201);
  const two = { template: { spec: { evictionResponders: [second] } } };
  const applied = expect(await apply('two', two), 200);
  assert.deepEqual(ofPod(applied.spec.template), [first, second]);
  const fields = applied.metadata.managedFields.find((entry: Json) => entry.manager === 'two').fieldsV1;
  assert.deepEqual(fields['f:spec']['f:template']['f:spec'], {
    'f:evictionResponders': { 'k:{"name":"db.example.com/failover"}': {} },
  });
  const changed = { ...second, priority: 1_007 };
  const patch = { spec: { template: { spec: { evictionResponders: [changed] } } } };
  const patched = expect(await client.patch(`${workloads}/a`, strategicPatch, patch), 200);
  const byName = (responders: Json): Json => responders.toSorted((a: Json, b: Json) => (a.name < b.name ? -1 : 1));
  assert.deepEqual(byName(patched.spec.template.spec.evictionResponders), [first, changed]);
});

test('the preemption policy of a node survives updates, patches and status writes, and its owners are a set', async () => {
  const node = expect(await client.post('/api/v1/nodes', aNode(client.name('node'))), 201);
  const path = nodePath(node);
  const answers = [
    await client.put(path, { ...node, metadata: { ...node.metadata, labels: { a: 'b' } } }),
    await client.patch(path, strategicPatch, { spec: { unschedulable: true } }),
    await client.patch(path, mergePatch, { metadata: { labels: { a: 'c' } } }),
    await client.patch(`${path}/status`, strategicPatch, { status: { phase: 'Running' } }),
  ];
  for (const answer of answers) assert.deepEqual(ofNode(expect(answer, 200)), podPreemptionPolicy);
  const added = { spec: { podPreemptionPolicy: { disableResizePreemption: ['x'] } } };
  const meta = { apiVersion: 'v1', kind: 'Node', metadata: { name: node.metadata.name } };
  const applied = expect(await client.patch(`${path}?fieldManager=two`, applyPatch, { ...meta, ...added }), 200);
  assert.deepEqual(ofNode(applied), { disableResizePreemption: [...podPreemptionPolicy.disableResizePreemption, 'x'] });
});
