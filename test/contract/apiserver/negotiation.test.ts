import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiResponse, expect, type Json, nodePath, openClient, tableAccept } from './client.ts';

const client = await openClient();

const partialList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

test('T145 objects and lists as tables, with the part of the objects that includeObject requests', async () => {
  const path = nodePath(await client.node());
  const { body: table } = await client.get(path, { accept: tableAccept });
  assert.partialDeepStrictEqual(table, { kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
  assert.deepEqual([table.rows.length, table.rows[0].object.kind], [1, 'PartialObjectMetadata']);
  assert.equal(table.rows[0].cells.length, table.columnDefinitions.length);
  const including = (part: string): Promise<ApiResponse> =>
    client.get(`${path}?includeObject=${part}`, { accept: tableAccept });
  expect(await including('Object'), 200, { rows: [{ object: { kind: 'Node' } }] });
  expect(await including('None'), 200, { rows: [{ object: null }] });
  expect(await including('Some'), 400);
  const { body: list } = await client.get('/api/v1/nodes', { accept: tableAccept });
  assert.match(list.metadata.resourceVersion, /^\d+$/);
  assert.ok(list.rows.length > 0);
});

test('T146 a client that prefers protobuf gets JSON with its content type', async () => {
  const accept = 'application/vnd.kubernetes.protobuf,application/json';
  const response = await client.get('/api/v1/namespaces/default', { accept });
  expect(response, 200);
  const type = String(response.headers['content-type']);
  assert.ok(['application/json', 'application/vnd.kubernetes.protobuf'].includes(type), type);
});

test('T147 T148 T155 an unsupported response type is 406, an unsupported body type 415, an unknown token 401', async () => {
  expect(await client.get('/api/v1/nodes', { accept: 'application/foo' }), 406);
  const text = await client.post('/api/v1/nodes', 'name: x', { type: 'text/plain' });
  expect(text, 415, { reason: 'UnsupportedMediaType' });
  const headers = { authorization: 'Bearer unknown' };
  expect(await client.get('/api/v1/nodes', { headers }), 401, { reason: 'Unauthorized' });
});

test('a YAML body is accepted', async () => {
  const name = client.name('node');
  expect(await client.post('/api/v1/nodes', `metadata:\n  name: ${name}\n`, { type: 'application/yaml' }), 201);
});

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

test('T150 T151 both forms of discovery contain the same resources', async () => {
  const { headers, body } = await client.get('/api', { accept: `${aggregated},application/json` });
  assert.match(String(headers['content-type']), /as=APIGroupDiscoveryList/);
  const known = { 'if-none-match': String(headers['etag']) };
  expect(await client.get('/api', { accept: aggregated, headers: known }), 304);
  const modern = body.items[0].versions[0].resources.map(({ resource }: Json) => resource);
  const legacy = expect(await client.get('/api/v1'), 200, { groupVersion: 'v1' });
  const names = legacy.resources.map(({ name }: Json) => name);
  for (const plural of ['nodes', 'pods', 'namespaces', 'events']) {
    assert.ok(modern.includes(plural) && names.includes(plural), plural);
  }
  const eviction = legacy.resources.find(({ name }: Json) => name === 'pods/eviction');
  assert.equal(eviction.group, 'policy');
  const { body: groups } = await client.get('/apis');
  assert.ok(groups.groups.some(({ name }: Json) => name === 'coordination.k8s.io'));
  expect(await client.get('/apis/coordination.k8s.io'), 200, { kind: 'APIGroup' });
});

test('T152 every OpenAPI v3 document is served', async () => {
  const { body: index } = await client.get('/openapi/v3');
  const { body: core } = await client.get(index.paths['api/v1'].serverRelativeURL);
  const { patch } = core.paths['/api/v1/nodes/{name}'];
  assert.deepEqual(patch['x-kubernetes-group-version-kind'], { group: '', version: 'v1', kind: 'Node' });
  const parameters = [...patch.parameters, ...(core.paths['/api/v1/nodes/{name}'].parameters ?? [])];
  assert.ok(parameters.some(({ name }: Json) => name === 'fieldValidation'));
});

test('T153 PartialObjectMetadata returns the metadata only', async () => {
  const { metadata } = await client.node({ metadata: { labels: { a: 'b' } } });
  const { name, labels } = metadata;
  const path = `/api/v1/nodes?fieldSelector=metadata.name%3D${name}`;
  const kind = 'PartialObjectMetadataList';
  const list = expect(await client.get(path, { accept: partialList }), 200, {
    kind,
    items: [{ metadata: { labels } }],
  });
  assert.equal(list.items[0].spec, undefined);
  const [event] = await (await client.watch(path, partial)).take(1);
  assert.partialDeepStrictEqual(event?.object, { kind: 'PartialObjectMetadata', metadata: { name } });
});

test('T154 responses to curl are indented', async () => {
  const indented = /\n {2}"/;
  const get = async (agent: string, query = ''): Promise<string> =>
    (await client.get(`/api/v1/namespaces/default${query}`, { headers: { 'user-agent': agent } })).text.trim();
  assert.match(await get('curl/8.0'), indented);
  assert.match(await get('kubectl/1.36', '?pretty=true'), indented);
  assert.doesNotMatch(await get('kubectl/1.36'), /\n/);
});

test('self-reviews are served', async () => {
  const apiVersion = 'authorization.k8s.io/v1';
  const spec = { resourceAttributes: { verb: 'get', resource: 'nodes' } };
  const review = { apiVersion, kind: 'SelfSubjectAccessReview', spec };
  const path = `/apis/${apiVersion}/selfsubjectaccessreviews`;
  expect(await client.post(path, review), 201, { status: { allowed: true } });
});

test('health, version and metrics', async () => {
  for (const path of ['/healthz', '/livez', '/readyz']) {
    assert.equal((await client.get(path)).text, 'ok');
    assert.match((await client.get(`${path}?verbose`)).text, /^\[\+\]ping ok\n[^]*check passed\n$/);
  }
  const { body } = await client.get('/version');
  assert.equal(body.major, '1');
  assert.match(body.minor, /^\d+$/);
  assert.match((await client.get('/metrics')).text, /apiserver_current_inflight_requests/);
});
