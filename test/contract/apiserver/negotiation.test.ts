import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Client, type Json, openClient, tableAccept } from './client.ts';

let client: Client;
before(async () => {
  client = await openClient();
});
after(() => client.close());

const partialList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

test('T145 objects and lists come as tables, with as much of the objects as wanted', async () => {
  const node = await client.node();
  const path = `/api/v1/nodes/${node.metadata.name}`;
  const { body: table } = await client.get(path, { accept: tableAccept });
  assert.equal(table.kind, 'Table');
  assert.equal(table.apiVersion, 'meta.k8s.io/v1');
  assert.equal(table.rows.length, 1);
  assert.equal(table.rows[0].object.kind, 'PartialObjectMetadata');
  assert.equal(table.rows[0].cells.length, table.columnDefinitions.length);
  const rowObject = async (include: string): Promise<Json> =>
    (await client.get(`${path}?includeObject=${include}`, { accept: tableAccept })).body.rows[0].object;
  assert.equal((await rowObject('Object')).kind, 'Node');
  assert.equal(await rowObject('None'), null);
  assert.equal((await client.get(`${path}?includeObject=Some`, { accept: tableAccept })).code, 400);
  const { body: list } = await client.get('/api/v1/nodes', { accept: tableAccept });
  assert.match(list.metadata.resourceVersion, /^\d+$/);
  assert.ok(list.rows.length > 0);
});

test('T146 a client that prefers protobuf is told what it gets', async () => {
  const accept = 'application/vnd.kubernetes.protobuf,application/json';
  const answer = await client.get('/api/v1/namespaces/default', { accept });
  assert.equal(answer.code, 200);
  const type = String(answer.headers['content-type']);
  assert.ok(['application/json', 'application/vnd.kubernetes.protobuf'].includes(type), type);
});

test('T147 a form that nobody can write is 406', async () => {
  const answer = await client.get('/api/v1/nodes', { accept: 'application/foo' });
  assert.equal(answer.code, 406);
});

test('T148 a body that nobody can read is 415', async () => {
  const answer = await client.post('/api/v1/nodes', 'name: x', { type: 'text/plain' });
  assert.equal(answer.code, 415);
  assert.equal(answer.body.reason, 'UnsupportedMediaType');
});

test('a body may be YAML', async () => {
  const name = client.name('node');
  const answer = await client.post('/api/v1/nodes', `metadata:\n  name: ${name}\n`, { type: 'application/yaml' });
  assert.equal(answer.code, 201, answer.text);
});

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

test('T150 T151 both forms of discovery name the same resources', async () => {
  const { headers, body } = await client.get('/api', { accept: `${aggregated},application/json` });
  assert.match(String(headers['content-type']), /as=APIGroupDiscoveryList/);
  const again = await client.get('/api', {
    accept: aggregated,
    headers: { 'if-none-match': String(headers['etag']) },
  });
  assert.equal(again.code, 304);
  const modern = body.items[0].versions[0].resources.map(({ resource }: Json) => resource);
  const { body: legacy } = await client.get('/api/v1');
  const names = legacy.resources.map(({ name }: Json) => name);
  assert.equal(legacy.groupVersion, 'v1');
  for (const plural of ['nodes', 'pods', 'namespaces', 'events']) {
    assert.ok(modern.includes(plural), plural);
    assert.ok(names.includes(plural), plural);
  }
  const eviction = legacy.resources.find(({ name }: Json) => name === 'pods/eviction');
  assert.equal(eviction.group, 'policy');
  const { body: groups } = await client.get('/apis');
  assert.ok(groups.groups.some(({ name }: Json) => name === 'coordination.k8s.io'));
  assert.equal((await client.get('/apis/coordination.k8s.io')).body.kind, 'APIGroup');
});

test('T152 every document of OpenAPI v3 can be had', async () => {
  const { body: index } = await client.get('/openapi/v3');
  const { body: core } = await client.get(index.paths['api/v1'].serverRelativeURL);
  const { patch } = core.paths['/api/v1/nodes/{name}'];
  assert.deepEqual(patch['x-kubernetes-group-version-kind'], { group: '', version: 'v1', kind: 'Node' });
  const parameters = [...patch.parameters, ...(core.paths['/api/v1/nodes/{name}'].parameters ?? [])];
  assert.ok(parameters.some(({ name }: Json) => name === 'fieldValidation'));
});

test('T153 metadata can be had alone', async () => {
  const node = await client.node({ metadata: { labels: { a: 'b' } } });
  const path = `/api/v1/nodes?fieldSelector=metadata.name%3D${node.metadata.name}`;
  const { body } = await client.get(path, { accept: partialList });
  assert.equal(body.kind, 'PartialObjectMetadataList');
  assert.equal(body.items[0].metadata.labels.a, 'b');
  assert.equal(body.items[0].spec, undefined);
  const watch = await client.watch(path, partial);
  const [event] = await watch.take(1);
  assert.equal(event?.object.kind, 'PartialObjectMetadata');
  assert.equal(event?.object.metadata.name, node.metadata.name);
  watch.stop();
});

test('T154 people who use curl get indented answers', async () => {
  const forPeople = await client.get('/api/v1/namespaces/default', { headers: { 'user-agent': 'curl/8.0' } });
  assert.match(forPeople.text, /\n {2}"/);
  const asked = await client.get('/api/v1/namespaces?pretty=true');
  assert.match(asked.text, /\n {2}"/);
  const compact = await client.get('/api/v1/namespaces/default', { headers: { 'user-agent': 'kubectl/1.36' } });
  assert.equal(compact.text.trim().includes('\n'), false);
});

test('T155 a token that is unknown is 401', async () => {
  const answer = await client.get('/api/v1/nodes', { headers: { authorization: 'Bearer unknown' } });
  assert.equal(answer.code, 401);
  assert.equal(answer.body.reason, 'Unauthorized');
});

test('reviews of oneself are answered', async () => {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const spec = { resourceAttributes: { verb: 'get', resource: 'nodes' } };
  const answer = await client.post(path, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec,
  });
  assert.equal(answer.code, 201, answer.text);
  assert.equal(answer.body.status.allowed, true);
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
