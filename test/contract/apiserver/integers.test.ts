/** Integers of 64 bits, which a number of JavaScript rounds beyond 2^53, in every format and on every way through the server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect, type Json, jsonPatch, mergePatch, openClient, strategicPatch } from './client.ts';

const client = await openClient();
const large = ['9223372036854775807', '9007199254740993', '4611686018427387904'];
const applyPatch = 'application/apply-patch+yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';

const container = '"containers":[{"name":"c","image":"registry.example/x:1"}]';
const podText = (name: string, seconds: string): string =>
  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{"terminationGracePeriodSeconds":${seconds},` +
  `"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":${seconds}}],${container}}}`;

function secondsIn(text: string): readonly (string | undefined)[] {
  return ['terminationGracePeriodSeconds', 'tolerationSeconds'].map(
    (field) => new RegExp(`"${field}": ?(-?[0-9.e+]+)`).exec(text)?.[1],
  );
}

async function assertStored(path: string, seconds: string): Promise<void> {
  const whole = expectText(await client.get(path));
  assert.deepEqual(secondsIn(whole), [seconds, seconds], 'read');
  assert.deepEqual(secondsIn(expectText(await client.get(`${path}?pretty=true`))), [seconds, seconds], 'pretty');
  const collection = path.slice(0, path.lastIndexOf('/'));
  assert.ok(expectText(await client.get(collection)).includes(`"tolerationSeconds":${seconds}`), 'list');
}

function expectText(response: { readonly code: number; readonly text: string }): string {
  assert.equal(response.code, 200, response.text);
  return response.text;
}

test('large integers are stored as they were sent, in JSON, YAML and protobuf', async () => {
  const pods = `/api/v1/namespaces/${await client.namespace()}/pods`;
  for (const [index, seconds] of large.entries()) {
    expect(await client.post(pods, podText(`json-${index}`, seconds), { type: 'application/json' }), 201);
    await assertStored(`${pods}/json-${index}`, seconds);
    expect(await client.post(pods, podText(`yaml-${index}`, seconds), { type: 'application/yaml' }), 201);
    await assertStored(`${pods}/yaml-${index}`, seconds);
    const read = await client.get(`${pods}/json-${index}`, { accept: protobuf });
    // A changed grace period would be rejected, a changed toleration stored.
    expect(await client.put(`${pods}/json-${index}`, read.bytes, { type: protobuf }), 200);
    await assertStored(`${pods}/json-${index}`, seconds);
  }
});

test('large integers are stored as they were sent, in patches of every type and in an apply', async () => {
  const pods = `/api/v1/namespaces/${await client.namespace()}/pods`;
  for (const [index, seconds] of large.entries()) {
    const path = `${pods}/p-${index}`;
    const list = `[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":${seconds}}]`;
    const stored = async (): Promise<string | undefined> => secondsIn(expectText(await client.get(path)))[1];
    const merges = [mergePatch, strategicPatch].map((type) => [type, `{"spec":{"tolerations":${list}}}`] as const);
    const operations = `[{"op":"replace","path":"/spec/tolerations","value":${list}}]`;
    for (const [type, body] of [...merges, [jsonPatch, operations] as const]) {
      expect(await client.post(pods, podText(`p-${index}`, '5')), 201);
      expect(await client.patch(path, type, body), 200);
      assert.equal(await stored(), seconds, type);
      expect(await client.delete(path, { gracePeriodSeconds: 0 }), 200);
    }
    expect(await client.patch(`${path}?fieldManager=m`, applyPatch, podText(`p-${index}`, seconds)), 201);
    await assertStored(path, seconds);
    expect(await client.patch(path, mergePatch, '{"metadata":{"labels":{"a":"b"}}}'), 200);
    await assertStored(path, seconds);
    expect(await client.patch(`${path}?fieldManager=m`, applyPatch, podText(`p-${index}`, seconds)), 200);
  }
});

test('integers beyond 64 bits, and numbers with an exponent, are rejected with field and value', async () => {
  const pods = `/api/v1/namespaces/${await client.namespace()}/pods`;
  for (const seconds of ['9223372036854775808', '-9223372036854775809', '1e18', '1.5']) {
    const { message } = expect(await client.post(pods, podText('p', seconds)), 400);
    assert.match(
      message,
      /[sS]econds: must be an integer of 64 bits|cannot unmarshal number .*[sS]econds of type int64/,
    );
  }
});

test('a large grace period ends like any other, and a negative one counts as 1', async () => {
  const pods = `/api/v1/namespaces/${await client.namespace()}/pods`;
  for (const seconds of ['9223372036854775807', '-9223372036854775808']) {
    const pod: Json = expect(await client.post(pods, podText('p', seconds)), 201);
    assert.equal(pod.spec.nodeName, undefined);
    expect(await client.delete(`${pods}/p`), 200);
    expect(await client.get(`${pods}/p`), 404);
  }
});
