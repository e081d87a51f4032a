import assert from 'node:assert/strict';
import { test } from 'node:test';
import { only } from './backend.ts';
import { type ApiResponse, expect, type Json, leases, mergePatch, namesOf, openClient, revisionOf } from './client.ts';

const client = await openClient();

async function namespaceWithLeases(...names: readonly string[]): Promise<string> {
  const namespace = await client.namespace();
  for (const name of names) await client.make(leases(namespace), { metadata: { name } });
  return namespace;
}

test('T084 an empty list has items and a resourceVersion', async () => {
  const { body } = await client.get(leases(await client.namespace()));
  assert.deepEqual(body.items, []);
  assert.match(body.metadata.resourceVersion, /^[1-9]\d*$/);
});

test('T085 a watch from the version of a list receives exactly the later changes', async () => {
  const namespace = await namespaceWithLeases('a');
  const { body } = await client.get(leases(namespace));
  assert.ok(body.items.every((item: Json) => revisionOf(item) <= revisionOf(body)));
  const watch = await client.watch(`${leases(namespace)}?resourceVersion=${body.metadata.resourceVersion}`);
  await client.make(leases(namespace), { metadata: { name: 'b' } });
  const [event] = await watch.take(1);
  assert.equal(event?.object.metadata.name, 'b');
});

test('T086 a paged list is complete, ordered and at one version', async () => {
  const namespace = await namespaceWithLeases('c', 'a', 'e', 'b', 'd');
  const pages: ApiResponse[] = [];
  let token = '';
  do {
    const page = await client.get(`${leases(namespace)}?limit=2&continue=${encodeURIComponent(token)}`);
    expect(page, 200);
    pages.push(page);
    token = page.body.metadata.continue ?? '';
  } while (token !== '');
  assert.deepEqual(pages.map(namesOf), [['a', 'b'], ['c', 'd'], ['e']]);
  assert.equal(new Set(pages.map(({ body }) => body.metadata.resourceVersion)).size, 1);
  const seen = pages.map(({ body }) => body.metadata.remainingItemCount);
  assert.deepEqual(seen, [3, 1, undefined]);
});

test('T087 later pages show the state of the first', async () => {
  const namespace = await namespaceWithLeases('a', 'b', 'c', 'd');
  const first = await client.get(`${leases(namespace)}?limit=1`);
  await client.delete(`${leases(namespace)}/b`);
  await client.patch(`${leases(namespace)}/c`, mergePatch, { metadata: { labels: { changed: 'yes' } } });
  await client.make(leases(namespace), { metadata: { name: 'bb' } });
  const rest = await client.get(`${leases(namespace)}?limit=10&continue=${first.body.metadata.continue}`);
  assert.deepEqual(namesOf(rest), ['b', 'c', 'd']);
  assert.equal(rest.body.items[1].metadata.labels, undefined);
});

test('T088 T089 a continue token excludes a resourceVersion and must be valid', async () => {
  const namespace = await namespaceWithLeases('a', 'b');
  const { body } = await client.get(`${leases(namespace)}?limit=1`);
  const both = `continue=${body.metadata.continue}&resourceVersion=${body.metadata.resourceVersion}`;
  expect(await client.get(`${leases(namespace)}?limit=1&${both}`), 400);
  expect(await client.get(`${leases(namespace)}?continue=garbage`), 400);
});

test('T090 invalid combinations with resourceVersionMatch are rejected', async () => {
  for (const query of [
    'resourceVersionMatch=Exact',
    'resourceVersionMatch=NotOlderThan',
    'resourceVersion=0&resourceVersionMatch=Exact',
    'resourceVersion=1&resourceVersionMatch=Sometimes',
  ]) {
    assert.equal((await client.get(`/api/v1/nodes?${query}`)).code, 422, query);
  }
});

test('T091 resourceVersion 0 ignores the limit', async () => {
  const namespace = await namespaceWithLeases('a', 'b', 'c');
  // Version 0 accepts any state, so a server may lag slightly; but it never returns only a first page.
  let names: readonly string[] = [];
  for (let tries = 0; names.length < 3 && tries < 100; tries++) {
    const response = await client.get(`${leases(namespace)}?resourceVersion=0&limit=1`);
    assert.equal(response.body.metadata.continue, undefined);
    names = namesOf(response);
  }
  assert.deepEqual(names, ['a', 'b', 'c']);
});

test('T092 an exact version returns the state at that version', async () => {
  const namespace = await namespaceWithLeases('a', 'b');
  const { resourceVersion } = (await client.get(leases(namespace))).body.metadata;
  await client.delete(`${leases(namespace)}/a`);
  await client.make(leases(namespace), { metadata: { name: 'c' } });
  const exact = `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
  const response = await client.get(`${leases(namespace)}?${exact}`);
  assert.deepEqual(namesOf(response), ['a', 'b']);
  assert.equal(response.body.metadata.resourceVersion, resourceVersion);
});

test('T093 NotOlderThan returns a state at or after the version', async () => {
  const namespace = await namespaceWithLeases('a');
  const { resourceVersion } = (await client.get(leases(namespace))).body.metadata;
  const query = (version: number): string => `resourceVersion=${version}&resourceVersionMatch=NotOlderThan`;
  const now = await client.get(`${leases(namespace)}?${query(Number(resourceVersion))}`);
  assert.deepEqual(namesOf(now), ['a']);
  expect(await client.get(`${leases(namespace)}?${query(Number(resourceVersion) + 1_000_000)}`), 504);
});

test('T094 an expired continue token returns a new one', {
  skip: only('embedded', 'compaction cannot be requested'),
}, async () => {
  const namespace = await namespaceWithLeases('a', 'b', 'c');
  const first = await client.get(`${leases(namespace)}?limit=1`);
  await client.make(leases(namespace), { metadata: { name: 'd' } });
  client.backend.forget?.compactNow();
  const gone = await client.get(`${leases(namespace)}?limit=1&continue=${first.body.metadata.continue}`);
  expect(gone, 410, { reason: 'Expired' });
  const rest = await client.get(`${leases(namespace)}?continue=${gone.body.metadata.continue}`);
  assert.deepEqual(namesOf(rest), ['b', 'c', 'd']);
});

test('T095 T098 field selectors of pods', async () => {
  const namespace = await client.namespace();
  const path = `/api/v1/namespaces/${namespace}/pods`;
  for (const [name, nodeName] of [
    ['a', 'n1'],
    ['b', 'n2'],
    ['c', undefined],
  ]) {
    await client.make(path, {
      metadata: { name },
      spec: { nodeName, automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i:1' }] },
    });
  }
  await client.patch(`${path}/b/status`, mergePatch, { status: { phase: 'Succeeded' } });
  const select = async (selector: string): Promise<readonly string[]> =>
    namesOf(await client.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`));
  assert.deepEqual(await select('spec.nodeName=n1'), ['a']);
  assert.deepEqual(await select('spec.nodeName!=n1'), ['b', 'c']);
  assert.deepEqual(await select('spec.nodeName='), ['c']);
  assert.deepEqual(await select('spec.nodeName==n2,status.phase=Succeeded'), ['b']);
  assert.deepEqual(await select('metadata.name=a\\,b'), []);
  assert.deepEqual(await select('spec.nodeName=n2,status.phase!=Succeeded,status.phase!=Failed'), []);
  assert.deepEqual(await select('spec.nodeName=n1,status.phase!=Succeeded,status.phase!=Failed'), ['a']);
});

test('T096 an unsupported field label is rejected', async () => {
  expect(await client.get('/api/v1/nodes?fieldSelector=spec.foo%3Dbar'), 400);
});

const labelCases: readonly (readonly [string, readonly string[] | 400])[] = [
  ['', ['none', 'one', 'three', 'two']],
  ['k', ['one', 'three', 'two']],
  ['!k', ['none']],
  ['k=1', ['one']],
  ['k==1', ['one']],
  ['k = 1', ['one']],
  ['k!=1', ['none', 'three', 'two']],
  ['k in (1,2)', ['one', 'two']],
  ['k in (1)', ['one']],
  ['k in ()', []],
  ['k in (,1)', ['one']],
  ['x in (,1)', ['three']],
  ['k notin (1,2)', ['none', 'three']],
  ['k notin ()', ['none', 'one', 'three', 'two']],
  ['k>1', ['three', 'two']],
  ['k<3', ['one', 'two']],
  ['k>1,k<3', ['two']],
  ['x=', ['three']],
  ['x', ['three']],
  ['x!=', ['none', 'one', 'two']],
  ['k,!x', ['one', 'two']],
  ['in=notin', ['two']],
  ['in in (in, notin)', ['two']],
  ['example.com/zone=a', ['one']],
  ['k=1,', 400],
  ['k=a=b', 400],
  ['k in 1', 400],
  ['k in (1', 400],
  ['k>a', 400],
  ['-bad=1', 400],
  ['k=not/a/value', 400],
  ['!', 400],
  ['(a)', 400],
];

test('T097 label selectors', async () => {
  const namespace = await client.namespace();
  const labels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    none: {},
    one: { k: '1', 'example.com/zone': 'a' },
    two: { k: '2', in: 'notin' },
    three: { k: '3', x: '' },
  };
  for (const [name, set] of Object.entries(labels))
    await client.make(leases(namespace), { metadata: { name, labels: set } });
  for (const [selector, expected] of labelCases) {
    const response = await client.get(`${leases(namespace)}?labelSelector=${encodeURIComponent(selector)}`);
    const seen = response.code === 200 ? namesOf(response) : response.code;
    assert.deepEqual(seen, expected, selector);
  }
});

test('T099 a list of all namespaces is ordered by namespace and name', async () => {
  const first = await namespaceWithLeases('b', 'a');
  const second = await namespaceWithLeases('a');
  const { body } = await client.get('/apis/coordination.k8s.io/v1/leases');
  const keys = body.items.map(({ metadata }: Json) => `${metadata.namespace}/${metadata.name}`);
  const created = keys.filter((key: string) => key.startsWith(`${first}/`) || key.startsWith(`${second}/`));
  assert.deepEqual(created, [`${first}/a`, `${first}/b`, `${second}/a`].sort());
  assert.ok(keys.every((key: string, index: number) => index === 0 || keys[index - 1] < key));
});

test('T100 a list has a kind, its items have none', async () => {
  await client.node();
  const { body } = await client.get('/api/v1/nodes');
  assert.deepEqual([body.kind, body.apiVersion], ['NodeList', 'v1']);
  for (const item of body.items) {
    assert.deepEqual([item.kind, item.apiVersion], [undefined, undefined]);
  }
});
