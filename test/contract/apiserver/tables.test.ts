/** Requests for tables; the cells of each kind are those of `embedded-tables.test.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect, type Json, mergePatch, openClient, tableAccept } from './client.ts';

const client = await openClient();
const accept = tableAccept;
const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };
const columnsOf = ({ columnDefinitions }: Json): Json => columnDefinitions?.map(({ name }: Json) => name) ?? null;

/** The collection of ConfigMaps of a new namespace. */
async function configMaps(): Promise<string> {
  const namespace = await client.namespace();
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  // A cluster may publish its CA in every namespace.
  const { items } = expect(await client.get(path), 200);
  assert.deepEqual(items, []);
  return path;
}

test('an empty list is a table with columns and without rows', async () => {
  const path = await configMaps();
  for (const query of ['', '?includeObject=None', '?includeObject=Object']) {
    const table = expect(await client.get(path + query, { accept }), 200, { kind: 'Table', rows: [] });
    assert.match(table.metadata.resourceVersion, /^\d+$/);
    assert.deepEqual(columnsOf(table), ['Name', 'Data', 'Age']);
  }
});

test('a page of a list has the token and the number of the remaining objects', async () => {
  const path = await configMaps();
  for (const name of ['a', 'b', 'c']) await client.make(path, { metadata: { name } });
  const page = expect(await client.get(`${path}?limit=1`, { accept }), 200);
  assert.deepEqual([page.rows.length, page.metadata.remainingItemCount], [1, 2]);
  const rest = expect(await client.get(`${path}?continue=${page.metadata.continue}`, { accept }), 200);
  assert.deepEqual(
    rest.rows.map(({ cells }: Json) => cells[0]),
    ['b', 'c'],
  );
  const selected = await client.get(`${path}?limit=1&fieldSelector=metadata.name!=x`, { accept });
  assert.equal(expect(selected, 200).metadata.remainingItemCount, undefined);
});

test('what a write answers is a table too, except for the Status of a deletion', async () => {
  const path = await configMaps();
  const created = await client.post(path, { metadata: { name: 'a' } }, { accept });
  const { metadata, rows } = expect(created, 201, { kind: 'Table', rows: [{ cells: ['a', 0], object: partial }] });
  assert.equal(metadata.resourceVersion, rows[0].object.metadata.resourceVersion);
  const patched = await client.patch(`${path}/a`, mergePatch, { data: { x: '1' } }, { accept });
  expect(patched, 200, { kind: 'Table', rows: [{ cells: ['a', 1] }] });
  const deleted = await client.send('DELETE', `${path}/a`, { accept });
  expect(deleted, 200, { kind: 'Status', status: 'Success' });
  await client.make(path, { metadata: { name: 'b' } });
  const all = await client.send('DELETE', path, { accept });
  expect(all, 200, { kind: 'Table', rows: [{ cells: ['b', 0], object: partial }] });
});

test('a Table of v1beta1 is served, one of another version is not', async () => {
  const path = await configMaps();
  const form = (version: string): string => `application/json;as=Table;v=${version};g=meta.k8s.io`;
  await client.make(path, { metadata: { name: 'a' } });
  const apiVersion = 'meta.k8s.io/v1beta1';
  const table = { kind: 'Table', apiVersion, rows: [{ object: { ...partial, apiVersion } }] };
  expect(await client.get(path, { accept: form('v1beta1') }), 200, table);
  expect(await client.get(path, { accept: form('v2') }), 406, { kind: 'Status' });
  expect(await client.get(path, { accept: `${form('v2')},application/json` }), 200, { kind: 'ConfigMapList' });
});

test('the first event of a watch has the columns, be it a change or a bookmark; the others do not', async () => {
  const path = await configMaps();
  await client.make(path, { metadata: { name: 'a' } });
  const changes = await client.watchChanges(path, '', accept);
  await client.make(path, { metadata: { name: 'b' } });
  await client.patch(`${path}/b`, mergePatch, { data: { x: '1' } });
  await client.delete(`${path}/b`);
  const events = await changes.take(3);
  assert.deepEqual(
    events.map(({ type, object }) => [type, columnsOf(object), object.rows[0].cells[1]]),
    [
      ['ADDED', ['Name', 'Data', 'Age'], 0],
      ['MODIFIED', null, 1],
      ['DELETED', null, 1],
    ],
  );
  const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const state = await client.watch(`${path}?${query}`, accept);
  const initial = await state.until(({ type }) => type === 'BOOKMARK');
  assert.deepEqual(
    initial.map(({ type, object }) => [type, columnsOf(object)]),
    [
      ['ADDED', ['Name', 'Data', 'Age']],
      ['BOOKMARK', null],
    ],
  );
});

const mark = { annotations: { 'k8s.io/initial-events-end': 'true' } };
const ofNothing: Readonly<Record<string, { readonly cells: readonly unknown[]; readonly object: object }>> = {
  'api/v1/nodes': {
    cells: ['', 'Unknown', '<none>', '<unknown>', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'],
    object: { kind: 'Node', apiVersion: 'v1', spec: {}, status: { nodeInfo: { machineID: '' } } },
  },
  'api/v1/pods': {
    cells: ['', '0/0', '', '0', '<unknown>', '<none>', '<none>', '<none>', '<none>'],
    object: { kind: 'Pod', apiVersion: 'v1', spec: { containers: null }, status: {} },
  },
};

for (const [path, { cells, object }] of Object.entries(ofNothing)) {
  test(`a bookmark of ${path} is a row of an object without content`, async () => {
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const nothing = 'labelSelector=absent%3Dlabel';
    for (const part of ['None', 'Metadata', 'Object'] as const) {
      const watch = await client.watch(`/${path}?${query}&${nothing}&includeObject=${part}`, accept);
      const [event] = await watch.take(1);
      const [row] = event?.object.rows ?? [];
      assert.deepEqual([event?.type, row.cells], ['BOOKMARK', cells]);
      assert.ok(columnsOf(event?.object).length > 0);
      assert.partialDeepStrictEqual(row.object, { ...(part === 'Object' ? object : partial), metadata: mark });
      watch.stop();
    }
  });
}

test('a Scale is a table if it is requested as one', async () => {
  const path = `/apis/apps/v1/namespaces/${await client.namespace()}/deployments`;
  const labels = { a: 'b' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await client.make(path, {
    metadata: { name: 'd' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  });
  const table = expect(await client.get(`${path}/d/scale`, { accept }), 200, { kind: 'Table' });
  assert.deepEqual(columnsOf(table), ['Name', 'Desired', 'Available', 'Age']);
  assert.equal(table.columnDefinitions[0].format, '');
  assert.deepEqual(table.rows[0].cells.slice(0, 3), ['d', 2, 0]);
  assert.partialDeepStrictEqual(table.rows[0].object, { ...partial, metadata: { name: 'd' } });
  const scale = { rows: [{ object: { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 3 } } }] };
  const patch = [{ op: 'replace', path: '/spec/replicas', value: 3 }];
  const whole = `${path}/d/scale?includeObject=Object`;
  expect(await client.patch(whole, 'application/json-patch+json', patch, { accept }), 200, scale);
  expect(await client.get(`${path}/d/scale?includeObject=Some`, { accept }), 400);
});
