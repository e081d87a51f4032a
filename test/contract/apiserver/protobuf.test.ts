/** Answers in protobuf: those in JSON, encoded as Go does. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { decodeProtobufBody } from '../../../src/hollow-cluster/apiserver/codec/protobuf-body.ts';
import { encodeEnvelope } from '../../../src/hollow-cluster/apiserver/codec/protobuf-encoder.ts';
import { toWireForm } from '../../../src/hollow-cluster/apiserver/codec/wire-form.ts';
import { apiVersionOf, servedResources } from '../../../src/hollow-cluster/apiserver/resources.ts';
import { type ApiResponse, expect, type Json, mergePatch, nodePath, openClient, podPath } from './client.ts';
import { type Example, examples, keyOf } from './example-objects.ts';
import { assertBothFormats, assertSameBytes, encodeDocument, encodeEvents, protobufType } from './protobuf-answers.ts';

const client = await openClient();
const accept = `${protobufType},application/json`;
const partial = (format: string, kind = 'PartialObjectMetadata', version = 'v1'): string =>
  `${format};as=${kind};g=meta.k8s.io;v=${version}`;

const read =
  (path: string, format = '') =>
  (type: string): Promise<ApiResponse> =>
    client.get(path, { accept: format === '' ? type : type.replace(protobufType, format) });

/** The object of an example as a client that writes protobuf sends it. */
function encodeBody({ version, plural, body }: Example): Buffer {
  const apiVersion = version.replace(/^apis?\//, '');
  const served = servedResources.find((each) => apiVersionOf(each) === apiVersion && each.plural === plural);
  assert.ok(served, plural);
  return encodeEnvelope({ apiVersion, kind: served.kind }, toWireForm(apiVersion, served.kind, body).object);
}

async function collectionOf(example: Example): Promise<string> {
  if (example.clusterScoped) return `/${example.version}/${example.plural}`;
  return `/${example.version}/namespaces/${await client.namespace()}/${example.plural}`;
}

describe('objects of every kind', () => {
  for (const example of examples) {
    test(keyOf(example), async () => {
      const collection = await collectionOf(example);
      const { name } = example.body.metadata;
      const path = `${collection}/${name}`;
      if (example.clusterScoped) await client.delete(path);
      const json = await client.post(collection, example.body);
      if (json.code !== 201) {
        const refused = await client.post(collection, example.body, { accept });
        // A version that a server does not have is answered with plain text.
        if (json.body === undefined) return assert.equal(refused.text, json.text);
        assertSameBytes(refused.bytes, encodeDocument(json.body), json.text);
        return;
      }
      const { body, bytes } = await assertBothFormats(read(path));
      const decoded = structuredClone(decodeProtobufBody(bytes));
      assert.deepEqual(decoded, {
        ...toWireForm(body.apiVersion, body.kind, body).object,
        kind: body.kind,
        apiVersion: body.apiVersion,
      });
      await assertBothFormats(read(`${collection}?fieldSelector=metadata.name%3D${name}`));
      await assertPartial(path);
      await assertWrites(example, collection);
    });
  }
});

/** The metadata alone. */
async function assertPartial(path: string): Promise<void> {
  const { body } = await client.get(path, { accept: partial('application/json') });
  const protobuf = await client.get(path, { accept: partial(protobufType) });
  assert.deepEqual([protobuf.code, protobuf.headers['content-type']], [200, protobufType]);
  assertSameBytes(protobuf.bytes, encodeDocument(body), path);
}

/** The same object, created by a client that sends and accepts protobuf, and deleted. */
async function assertWrites(example: Example, collection: string): Promise<void> {
  const path = `${collection}/${example.body.metadata.name}`;
  const deleted = await client.delete(path);
  assert.equal(deleted.code, 200, deleted.text);
  if ((await client.get(path)).code === 200) return;
  const created = await client.post(collection, encodeBody(example), { type: protobufType, accept });
  assert.equal(created.code, 201, created.text);
  const { metadata } = decodeProtobufBody(created.bytes);
  const { body: stored } = await client.get(path);
  assert.partialDeepStrictEqual(metadata, { uid: stored.metadata.uid });
  // A controller of a real server may have changed it meanwhile.
  const isUnchanged = isDeepStrictEqual(
    metadata,
    { ...toWireForm(stored.apiVersion, stored.kind, stored).object }['metadata'],
  );
  if (isUnchanged) assertSameBytes(created.bytes, encodeDocument(stored), path);
  await client.delete(path);
}

test('lists: unpaged, a page, an empty one, and of metadata in both versions', async () => {
  const namespace = await client.namespace();
  for (const index of [1, 2, 3]) await client.pod(namespace, { metadata: { labels: { index: String(index) } } });
  const path = `/api/v1/namespaces/${namespace}/pods`;
  assert.equal((await assertBothFormats(read(path))).body.items.length, 3);
  assert.equal((await assertBothFormats(read(`${path}?labelSelector=none%3Dset`))).body.items.length, 0);
  const page = await client.get(`${path}?limit=2`, { accept });
  const { body } = await client.get(`${path}?limit=2`);
  assert.equal(page.bytes.length, encodeDocument(body).length);
  for (const version of ['v1', 'v1beta1']) {
    const kind = 'PartialObjectMetadataList';
    const json = await client.get(path, { accept: partial('application/json', kind, version) });
    const protobuf = await client.get(path, { accept: partial(protobufType, kind, version) });
    assertSameBytes(protobuf.bytes, encodeDocument(json.body), version);
  }
});

test('a list of more than a megabyte', async () => {
  const namespace = await client.namespace();
  for (const name of ['a', 'b', 'c', 'd']) {
    await client.make(`/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name },
      data: { large: 'ä'.repeat(200_000) },
    });
  }
  await assertBothFormats(read(`/api/v1/namespaces/${namespace}/configmaps?labelSelector=none!%3Dset`));
});

describe('watches', () => {
  const watched = async (path: string, format: string): Promise<ApiResponse> =>
    client.get(`${path}&watch=true&timeoutSeconds=2`, { accept: format });

  async function assertSameEvents(path: string, parameters = ''): Promise<string> {
    const [json, protobuf] = await Promise.all([
      watched(path, `application/json${parameters}`),
      watched(path, `${protobufType}${parameters},application/json`),
    ]);
    assert.deepEqual([json.code, protobuf.code], [200, 200]);
    assert.equal(json.headers['content-type'], 'application/json');
    assert.equal(protobuf.headers['content-type'], `${protobufType};stream=watch`);
    assertSameBytes(protobuf.bytes, encodeEvents(json.text), json.text);
    return json.text;
  }

  async function changes(): Promise<string> {
    const namespace = await client.namespace();
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const version = await client.versionOf(path);
    const pod = await client.pod(namespace);
    await client.patch(podPath(pod), mergePatch, { metadata: { annotations: { colour: 'grün' } } });
    await client.patch(podPath(await client.pod(namespace)), mergePatch, { metadata: { annotations: { a: 'b' } } });
    expect(await client.send('DELETE', `${podPath(pod)}?gracePeriodSeconds=0`), 200);
    return `${path}?resourceVersion=${version}`;
  }

  test('every change, also without its content', async () => {
    const path = await changes();
    const lines = await assertSameEvents(path);
    assert.deepEqual(
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).type),
      ['ADDED', 'MODIFIED', 'ADDED', 'MODIFIED', 'MODIFIED', 'DELETED'],
    );
    await assertSameEvents(path, ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
    await assertSameEvents(path, ';stream=watch');
  });

  test('a streaming list with its bookmark', async () => {
    const namespace = await client.namespace();
    await client.lease(namespace, { spec: { renewTime: '2026-11-21T06:42:20.000001Z' } });
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases?${query}`;
    const both = await Promise.all([watched(path, 'application/json'), watched(path, protobufType)]);
    // A real server may have passed later revisions when it answers the second.
    const [json, protobuf] = both.map(({ text }) => text);
    assert.match(json ?? '', /"type":"BOOKMARK".*"k8s.io\/initial-events-end":"true"/);
    assert.match(protobuf ?? '', /BOOKMARK[^]*k8s.io\/initial-events-end/);
    assert.equal(both[1].headers['content-type'], `${protobufType};stream=watch`);
  });

  test('a version that is too old is an ERROR event in a 200 response, or a Status', async () => {
    const path = `/api/v1/nodes?resourceVersion=1`;
    const [json, protobuf] = await Promise.all([watched(path, 'application/json'), watched(path, protobufType)]);
    assert.deepEqual([json.code, protobuf.code], [200, 200]);
    assert.match(json.text, /"type":"(ERROR|ADDED)"/);
    if (json.text.includes('ERROR')) assertSameBytes(protobuf.bytes, encodeEvents(json.text), json.text);
  });
});

test('errors are Statuses in the format that was asked for', async () => {
  const { metadata } = await client.node();
  const node = nodePath({ metadata });
  const wrong = { metadata: { name: 'Not_Valid' }, spec: { taints: [{ key: '', effect: 'x' }] } };
  const requests: readonly [number, (type: string) => Promise<ApiResponse>][] = [
    [404, read('/api/v1/nodes/absent')],
    [404, read('/api/v1/absents')],
    [400, read('/api/v1/nodes?fieldSelector=nothing%3Dx')],
    [409, (type) => client.post('/api/v1/nodes', { metadata: { name: metadata.name } }, { accept: type })],
    [422, (type) => client.post('/api/v1/nodes', wrong, { accept: type })],
    [415, (type) => client.post('/api/v1/nodes', 'x', { type: 'text/plain', accept: type })],
    [405, (type) => client.send('DELETE', '/api/v1/namespaces', { accept: type })],
    [401, (type) => client.get(node, { accept: type, headers: { authorization: 'Bearer unknown' } })],
  ];
  for (const [code, send] of requests) await assertBothFormats(send, code);
});

test('subresources and reviews', async () => {
  const namespace = await client.namespace();
  const pod = await client.pod(namespace);
  const post = (path: string, body: Json) => (type: string) => client.post(path, body, { accept: type });
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod.metadata.name } };
  await assertBothFormats(post(`${podPath(pod)}/eviction?dryRun=All`, eviction), 201);
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await client.make(deployments, { metadata: { name: 'web' }, spec: { selector: { matchLabels: labels }, template } });
  const { body: scale } = await assertBothFormats(read(`${deployments}/web/scale`));
  await assertBothFormats((type) => client.put(`${deployments}/web/scale?dryRun=All`, scale, { accept: type }));
  const bytes = encodeEnvelope(scale, { ...scale, spec: { replicas: 3 } });
  const scaled = await client.put(`${deployments}/web/scale`, bytes, { type: protobufType });
  expect(scaled, 200, { spec: { replicas: 3 } });
  await assertBothFormats((type) =>
    client.patch(`${deployments}/web/status`, mergePatch, { status: { replicas: 1 } }, { accept: type }),
  );
  const authorization = 'authorization.k8s.io/v1';
  const spec = { user: 'jane', resourceAttributes: { verb: 'get', resource: 'nodes' }, extra: { scopes: ['a', 'b'] } };
  await assertBothFormats(post(`/apis/${authorization}/subjectaccessreviews`, { spec }), 201);
  // A real server lists the rules in a random order.
  const rules = post(`/apis/${authorization}/selfsubjectrulesreviews`, { spec: { namespace: 'default' } });
  const [json, protobuf] = [await rules('application/json'), await rules(accept)];
  assert.deepEqual([protobuf.code, protobuf.bytes.length], [201, encodeDocument(json.body).length]);
  const authentication = 'authentication.k8s.io/v1';
  await assertBothFormats(post(`/apis/${authentication}/tokenreviews`, { spec: { token: 'none' } }), 201);
  await assertBothFormats(post(`/apis/${authentication}/selfsubjectreviews`, {}), 201);
});

describe('discovery', () => {
  for (const path of ['/apis', '/api/v1', '/apis/apps', '/apis/apps/v1', '/api']) {
    test(path, async () => {
      await assertBothFormats(read(path));
    });
  }
  for (const path of ['/api', '/apis']) {
    test(`${path}, aggregated`, async () => {
      const parameters = ';g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
      const { body } = await client.get(path, { accept: `application/json${parameters}` });
      const { bytes, headers } = await client.get(path, { accept: `${protobufType}${parameters}` });
      assert.equal(headers['content-type'], `${protobufType}${parameters}`);
      assertSameBytes(bytes, encodeDocument(body), path);
    });
  }
});

const table = ';as=Table;g=meta.k8s.io;v=v1';
const json = 'application/json';

describe('negotiation', () => {
  /** What a client accepts, and the format of the response; undefined if there is none. */
  const rows: readonly [string, string | undefined][] = [
    [protobufType, protobufType],
    [`${json},${protobufType}`, json],
    [`${protobufType};q=0.1,${json}`, json],
    [`${protobufType};q=0.2,${json};q=0.1`, protobufType],
    // A quality of 0 is the lowest, not a refusal.
    [`application/foo,${protobufType};q=0`, protobufType],
    // A wildcard comes after every named type, whatever the qualities.
    [`*/*;q=1,${protobufType};q=0.1`, protobufType],
    ['application/*', undefined],
    [`application/*,${protobufType}`, protobufType],
    [`application/foo,*/*`, json],
    ['*', undefined],
    ['*/*', json],
    [`${protobufType}${table}`, undefined],
    [`${protobufType}${table},${json}`, json],
    [`${json}${table}`, json],
    [`${protobufType};stream=watch`, protobufType],
    [`${protobufType};stream=other`, undefined],
    [`${protobufType};sv=v1`, protobufType],
    [`${protobufType};sv=v2`, undefined],
    [`${protobufType};charset=utf-8`, protobufType],
    [`${protobufType};as=Pod;g=;v=v1`, undefined],
    [`${partial(protobufType)},${json}`, protobufType],
    ['application/JSON', undefined],
    ['application', undefined],
    ['text/html', undefined],
  ];
  for (const [accepted, expected] of rows) {
    test(`${accepted}: ${expected ?? 'not acceptable'}`, async () => {
      const response = await client.get('/api/v1/namespaces/default', { accept: accepted });
      assert.equal(response.code, expected === undefined ? 406 : 200, response.text);
      assert.equal(response.headers['content-type'], expected ?? json);
    });
  }

  test('an error is never hidden by one of the negotiation, and has no other form', async () => {
    const path = '/api/v1/nodes/absent';
    for (const accepted of [partial(protobufType), `${json}${table}`]) {
      const response = await client.get(path, { accept: accepted });
      assert.deepEqual([response.code, response.headers['content-type']], [404, json]);
      expect(response, 404, { kind: 'Status', reason: 'NotFound' });
    }
    expect(await client.get(path, { accept: 'application/foo' }), 406, { reason: 'NotAcceptable' });
  });

  test('discovery and subresources have one form', async () => {
    for (const path of ['/apis', '/api/v1', '/apis/apps']) {
      assert.equal((await client.get(path, { accept: `${json}${table}` })).code, 406, path);
      assert.equal(
        (await client.get(path, { accept: `${protobufType}${table},${json}` })).headers['content-type'],
        json,
      );
    }
  });
});
