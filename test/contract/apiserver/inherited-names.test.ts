// Keys that every plain object of JavaScript inherits are keys like others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect, type Json, leases, mergePatch, namesOf, openClient, strategicPatch } from './client.ts';

const client = await openClient();
const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];
const configMaps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

test('a label selector by an inherited name selects the objects that have that label', async () => {
  const namespace = await client.namespace();
  await client.make(leases(namespace), { metadata: { name: 'plain' } });
  await client.make(leases(namespace), {
    metadata: { name: 'labelled', labels: Object.fromEntries(names.map((name) => [name, 'x'])) },
  });
  for (const name of names) {
    const select = async (selector: string): Promise<readonly string[]> =>
      namesOf(await client.get(`${leases(namespace)}?labelSelector=${encodeURIComponent(selector)}`));
    assert.deepEqual(await select(name), ['labelled'], name);
    assert.deepEqual(await select(`!${name}`), ['plain'], name);
    assert.deepEqual(await select(`${name} notin (x)`), ['plain'], name);
  }
});

test('data has any valid key, __proto__ included, in each kind of write', async () => {
  const namespace = await client.namespace();
  const keys = [...names, '__proto__'];
  const data = `{${keys.map((key) => `"${key}":"x"`).join()}}`;
  const stored = async (name: string): Promise<Json> =>
    (await client.get(`${configMaps(namespace)}/${name}`)).body.data;
  const head = (name: string): string => `"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"}`;
  const bodyOf = (name: string): Buffer => Buffer.from(`{${head(name)},"data":${data}}`);

  expect(await client.post(configMaps(namespace), bodyOf('posted'), { type: 'application/json' }), 201);
  assert.deepEqual(Object.keys(await stored('posted')).toSorted(), keys.toSorted());

  for (const type of [mergePatch, strategicPatch]) {
    const name = client.name('patched');
    await client.make(configMaps(namespace), { metadata: { name }, data: { kept: 'x' } });
    expect(await client.patch(`${configMaps(namespace)}/${name}`, type, Buffer.from(`{"data":${data}}`)), 200);
    assert.deepEqual(Object.keys(await stored(name)).toSorted(), [...keys, 'kept'].toSorted(), type);
  }

  const apply = `${configMaps(namespace)}/applied?fieldManager=test`;
  for (const code of [201, 200])
    expect(await client.patch(apply, 'application/apply-patch+yaml', bodyOf('applied')), code);
  assert.deepEqual(Object.keys(await stored('applied')).toSorted(), keys.toSorted());
});
