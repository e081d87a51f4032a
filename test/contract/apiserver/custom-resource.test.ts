// NodeLifecyclePolicy: the embedded server has it built in, a real one gets its definition.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { policyCrd } from '../../../tools/manifests/policy-crd.ts';
import {
  type ApiResponse,
  causesOf,
  expect,
  type Json,
  jsonPatch,
  mergePatch,
  openClient,
  strategicPatch,
  tableAccept,
} from './client.ts';
import { assertSameBytes, encodeDocument, protobufType } from './protobuf-answers.ts';

const client = await openClient();
const collection = '/apis/policy.node-lifecycle.dev/v1alpha1/nodelifecyclepolicies';
const selector = { nodeSelector: { matchLabels: { pool: 'edge' } } };

before(async () => {
  if (client.backend.kind === 'embedded') return;
  const created = await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', policyCrd());
  assert.equal(created.code, 201, created.text);
  for (let tries = 0; tries < 100; tries += 1) {
    const served = await client.get(collection);
    const document = await client.get('/openapi/v3/apis/policy.node-lifecycle.dev/v1alpha1');
    if (served.code === 200 && document.code === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail('the definition is not served');
});

function aPolicy(spec: Json = selector): Json {
  return {
    apiVersion: 'policy.node-lifecycle.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: client.name('policy') },
    spec,
  };
}

async function make(spec?: Json): Promise<Json> {
  return client.make(collection, aPolicy(spec));
}

const pathOf = ({ metadata: { name } }: Json): string => `${collection}/${name}`;

/** The fields that the causes name. */
const fieldsOf = ({ body }: ApiResponse): readonly string[] => body.details.causes.map(({ field }: Json) => field);

test('C01 a created policy has generation 1, no status and its kind in lists too', async () => {
  const policy = await make({ ...selector, mode: 'Paused', priority: 5 });
  assert.deepEqual(
    [policy.kind, policy.metadata.generation, policy.status, policy.spec],
    ['NodeLifecyclePolicy', 1, undefined, { ...selector, mode: 'Paused', priority: 5 }],
  );
  const { body } = await client.get(collection);
  assert.equal(body.kind, 'NodeLifecyclePolicyList');
  const listed = body.items.find(({ metadata }: Json) => metadata.name === policy.metadata.name);
  assert.deepEqual([listed.kind, listed.apiVersion], [policy.kind, policy.apiVersion]);
});

test('C02 a status that is sent at the creation is dropped', async () => {
  const policy = await client.make(collection, { ...aPolicy(), status: { nodes: 3 } });
  assert.equal(policy.status, undefined);
});

test('C03 a changed spec increments the generation, metadata and status do not', async () => {
  const policy = await make();
  const path = pathOf(policy);
  const labelled = await client.patch(path, mergePatch, { metadata: { labels: { a: 'b' } } });
  assert.equal(expect(labelled, 200).metadata.generation, 1);
  const status = await client.patch(`${path}/status`, mergePatch, { status: { nodes: 3 } });
  assert.deepEqual([expect(status, 200).metadata.generation, status.body.status], [1, { nodes: 3 }]);
  const changed = await client.patch(path, mergePatch, { spec: { mode: 'Observe' } });
  assert.deepEqual([expect(changed, 200).metadata.generation, changed.body.spec.mode], [2, 'Observe']);
});

test('C04 the object and its status are written apart', async () => {
  const policy = await make();
  const both = { metadata: { labels: { c: 'd' } }, spec: { mode: 'Paused' }, status: { nodes: 7 } };
  const { body: first } = await client.patch(`${pathOf(policy)}/status`, mergePatch, both);
  assert.deepEqual([first.metadata.labels, first.spec.mode, first.status], [undefined, undefined, { nodes: 7 }]);
  const { body: second } = await client.patch(pathOf(policy), mergePatch, { ...both, status: { nodes: 8 } });
  assert.deepEqual([second.metadata.labels, second.spec.mode, second.status], [{ c: 'd' }, 'Paused', { nodes: 7 }]);
});

test('C05 a patch of the status with an older resourceVersion is a conflict', async () => {
  const policy = await make();
  const { resourceVersion } = policy.metadata;
  const patch = (nodes: number): Promise<ApiResponse> =>
    client.patch(`${pathOf(policy)}/status`, mergePatch, { metadata: { resourceVersion }, status: { nodes } });
  expect(await patch(1), 200);
  assert.equal(expect(await patch(2), 409).reason, 'Conflict');
});

test('C06 JSON patch and PUT change the spec, and PUT needs the resourceVersion', async () => {
  const policy = await make({ ...selector, mode: 'Paused' });
  const patched = await client.patch(pathOf(policy), jsonPatch, [
    { op: 'replace', path: '/spec/mode', value: 'Observe' },
  ]);
  assert.equal(expect(patched, 200).spec.mode, 'Observe');
  const put = await client.put(pathOf(policy), { ...patched.body, spec: selector });
  assert.deepEqual(expect(put, 200).spec, selector);
  const { resourceVersion: _version, ...metadata } = put.body.metadata;
  const without = await client.put(pathOf(policy), { ...put.body, metadata });
  assert.deepEqual([without.code, fieldsOf(without)], [422, ['metadata.resourceVersion']]);
});

test('C07 a strategic merge patch is refused with 415 and the accepted types', async () => {
  const policy = await make();
  const response = await client.patch(pathOf(policy), strategicPatch, { spec: { mode: 'Paused' } });
  assert.equal(expect(response, 415).reason, 'UnsupportedMediaType');
  assert.match(response.body.message, /application\/json-patch\+json, application\/merge-patch\+json/u);
  assert.doesNotMatch(response.body.message, /strategic/u);
});

const malformed: readonly (readonly [what: string, spec: Json, field: string, reason: string])[] = [
  ['an unknown mode', { ...selector, mode: 'On' }, 'spec.mode', 'FieldValueNotSupported'],
  ['no selector', {}, 'spec.nodeSelector', 'FieldValueRequired'],
  ['an empty selector', { nodeSelector: {} }, 'spec.nodeSelector', 'FieldValueInvalid'],
  [
    'an operator without values',
    { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    'spec.nodeSelector.matchExpressions[0].values',
    '',
  ],
  [
    'a duration without a unit',
    { ...selector, nodeMonitorGracePeriod: '40' },
    'spec.nodeMonitorGracePeriod',
    'FieldValueInvalid',
  ],
  [
    'a duration of 300 years',
    { ...selector, nodeStartupGracePeriod: '9999999h' },
    'spec.nodeStartupGracePeriod',
    'FieldValueInvalid',
  ],
  [
    'limits without a number',
    { ...selector, limits: { maxUnhealthy: {} } },
    'spec.limits.maxUnhealthy',
    'FieldValueInvalid',
  ],
  [
    'a percent above 100',
    { ...selector, limits: { maxUnhealthy: { percent: 101 } } },
    'spec.limits.maxUnhealthy.percent',
    'FieldValueInvalid',
  ],
  [
    'a health taint as maintenance',
    { ...selector, maintenance: { taints: ['node.kubernetes.io/unreachable'], maxDuration: '1h' } },
    'spec.maintenance.taints[0]',
    'FieldValueInvalid',
  ],
];

for (const [what, spec, field, reason] of malformed) {
  test(`C08 refused with 422 and the field: ${what}`, async () => {
    const response = await client.post(collection, aPolicy(spec));
    expect(response, 422);
    assert.deepEqual(fieldsOf(response).slice(0, 1), [field], response.text);
    if (reason !== '') assert.equal(causesOf(response)[0], reason);
  });
}

test('C09 unknown fields are pruned with a warning, refused with 400 in strict mode', async () => {
  const body = aPolicy({ ...selector, maxUnhealthy: '40%', limits: { maxUnhealthy: { count: 1, share: 2 } } });
  const strict = await client.post(`${collection}?fieldValidation=Strict`, body);
  assert.equal(expect(strict, 400).reason, 'BadRequest');
  assert.match(
    strict.body.message,
    /unknown field "spec\.limits\.maxUnhealthy\.share".*unknown field "spec\.maxUnhealthy"|unknown field "spec\.maxUnhealthy".*unknown field "spec\.limits/u,
  );
  const warned = await client.post(`${collection}?fieldValidation=Warn`, body);
  assert.deepEqual(expect(warned, 201).spec, { ...selector, limits: { maxUnhealthy: { count: 1 } } });
  assert.match(String(warned.headers['warning']), /unknown field \\"spec\.maxUnhealthy\\"/u);
});

test('C10 a watch delivers creations, changes of spec and status, and deletions', async () => {
  const watch = await client.watchChanges(collection);
  const policy = await make();
  await client.patch(pathOf(policy), mergePatch, { spec: { mode: 'Paused' } });
  await client.patch(`${pathOf(policy)}/status`, mergePatch, { status: { nodes: 2 } });
  await client.delete(pathOf(policy));
  const ofPolicy = ({ object }: { object: Json }): boolean => object.metadata.name === policy.metadata.name;
  const events = await watch.until((event) => event.type === 'DELETED' && ofPolicy(event));
  assert.deepEqual(
    events.filter(ofPolicy).map(({ type, object }) => [type, object.spec.mode, object.status?.nodes]),
    [
      ['ADDED', undefined, undefined],
      ['MODIFIED', 'Paused', undefined],
      ['MODIFIED', 'Paused', 2],
      ['DELETED', 'Paused', 2],
    ],
  );
  watch.stop();
});

test('C11 the server prints the columns of the definition', async () => {
  const policy = await make();
  const at = '2026-01-01T00:00:00Z';
  const accepted = { type: 'Accepted', status: 'True', reason: 'Valid', message: '', lastTransitionTime: at };
  const other = { ...accepted, type: 'Degraded', status: 'False' };
  const status = {
    mode: 'Enforce',
    priority: 3,
    nodes: 8,
    unhealthyNodes: 2,
    heldNodes: 1,
    conditions: [other, accepted],
  };
  expect(await client.patch(`${pathOf(policy)}/status`, mergePatch, { status }), 200);
  const { body } = await client.get(pathOf(policy), { accept: tableAccept });
  assert.deepEqual(
    body.columnDefinitions.map(({ name, priority }: Json) => `${name} ${priority}`),
    [
      'Name 0',
      'Mode 0',
      'Priority 0',
      'Nodes 0',
      'Unhealthy 0',
      'Held 0',
      'Breaker 0',
      'Accepted 0',
      'Reason 1',
      'Age 0',
    ],
  );
  const [name, ...cells] = body.rows[0].cells;
  assert.equal(name, policy.metadata.name);
  assert.deepEqual(cells.slice(0, -1), ['Enforce', 3, 8, 2, 1, null, 'True', 'Valid']);
  assert.match(cells.at(-1), /^\d+s$/u);
});

test('C12 discovery and OpenAPI name the kind, its short name, its status and its fields', async () => {
  const { body } = await client.get('/apis/policy.node-lifecycle.dev/v1alpha1');
  const names = body.resources.map(({ name, shortNames = [], namespaced, verbs }: Json) => {
    return `${name} ${shortNames.join()} ${namespaced} ${verbs.toSorted((a: string, b: string) => (a < b ? -1 : 1)).join()}`;
  });
  assert.deepEqual(names.sort(), [
    'nodelifecyclepolicies nlp false create,delete,deletecollection,get,list,patch,update,watch',
    'nodelifecyclepolicies/status  false get,patch,update',
  ]);
  const document = await client.get('/openapi/v3/apis/policy.node-lifecycle.dev/v1alpha1');
  const schema = document.body.components.schemas['dev.node-lifecycle.policy.v1alpha1.NodeLifecyclePolicy'];
  assert.match(schema.properties.spec.properties.limits.properties.cooldown.description, /5m if not set/u);
  assert.deepEqual(schema['x-kubernetes-group-version-kind'], [
    { group: 'policy.node-lifecycle.dev', kind: 'NodeLifecyclePolicy', version: 'v1alpha1' },
  ]);
});

test('C13 an unchanged write changes no version, and a collection can be deleted', async () => {
  const policy = await make();
  const same = await client.patch(pathOf(policy), mergePatch, { spec: policy.spec });
  assert.equal(expect(same, 200).metadata.resourceVersion, policy.metadata.resourceVersion);
  const labelled = await client.patch(pathOf(policy), mergePatch, {
    metadata: { labels: { round: policy.metadata.name } },
  });
  expect(labelled, 200);
  expect(await client.delete(`${collection}?labelSelector=round%3D${policy.metadata.name}`), 200);
  expect(await client.get(pathOf(policy)), 404);
});

test('protobuf has the metadata and errors of a custom resource, and nothing else', async () => {
  const policy = await client.make(collection, aPolicy());
  const path = `${collection}/${policy.metadata.name}`;
  const typeOf = async (accept: string, code: number, at = path): Promise<unknown> => {
    const response = await client.get(at, { accept });
    assert.equal(response.code, code, response.text);
    return response.headers['content-type'];
  };
  assert.equal(await typeOf(`${protobufType},application/json`, 200), 'application/json');
  assert.equal(await typeOf(`${protobufType},application/json`, 200, collection), 'application/json');
  assert.equal(await typeOf(protobufType, 406), protobufType);
  assert.equal(await typeOf(`${protobufType},application/json`, 404, `${collection}/absent`), protobufType);
  const partial = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const { body } = await client.get(path, { accept: `application/json${partial}` });
  const { bytes, headers } = await client.get(path, { accept: `${protobufType}${partial}` });
  assert.equal(headers['content-type'], protobufType);
  assertSameBytes(bytes, encodeDocument(body), path);
});
