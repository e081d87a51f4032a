/** Bytes in objects: Secrets and ConfigMaps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect, type Json, mergePatch, openClient, strategicPatch } from './client.ts';

const client = await openClient();

async function collectionOf(plural: string): Promise<string> {
  return `/api/v1/namespaces/${await client.namespace()}/${plural}`;
}

function named(fields: Json): Json {
  return { metadata: { name: client.name('bytes') }, ...fields };
}

test('a Secret keeps its data', async () => {
  const secrets = await collectionOf('secrets');
  const made = await client.make(secrets, named({ data: { a: 'YWI=', empty: '' } }));
  assert.deepEqual([made.data, made.type], [{ a: 'YWI=', empty: '' }, 'Opaque']);
  const path = `${secrets}/${made.metadata.name}`;
  const patched = expect(await client.patch(path, mergePatch, { data: { b: 'Yg==', empty: null } }), 200);
  assert.deepEqual(patched.data, { a: 'YWI=', b: 'Yg==' });
  assert.deepEqual(expect(await client.get(path), 200).data, patched.data);
});

test('a ConfigMap keeps its binary data', async () => {
  const made = await client.make(await collectionOf('configmaps'), named({ binaryData: { a: '/wA=' } }));
  assert.deepEqual(made.binaryData, { a: '/wA=' });
});

test('data that is not base64 is rejected', async () => {
  const response = await client.post(await collectionOf('secrets'), named({ data: { a: 'not base64' } }));
  const { message } = expect(response, 400, { reason: 'BadRequest' });
  const expected = 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 3';
  assert.equal(message, expected);
});

test('stringData is written to data, and is not stored', async () => {
  const secrets = await collectionOf('secrets');
  const made = await client.make(secrets, named({ data: { a: 'YQ==', b: 'Yg==' }, stringData: { a: 'ä', c: '' } }));
  assert.deepEqual([made.data, made.stringData], [{ a: 'w6Q=', b: 'Yg==', c: '' }, undefined]);
  const path = `${secrets}/${made.metadata.name}`;
  const patched = expect(await client.patch(path, strategicPatch, { stringData: { b: 'x' } }), 200);
  assert.deepEqual([patched.data, patched.stringData], [{ a: 'w6Q=', b: 'eA==', c: '' }, undefined]);
});
