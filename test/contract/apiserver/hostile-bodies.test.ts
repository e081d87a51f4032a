// Bodies that take time, memory or stack without bound if they are read without care.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byVersion } from '../../support/by-version.ts';
import { aliasBomb, deepTexts, deepJson } from '../../support/hostile-texts.ts';
import { only } from './backend.ts';
import { expect, jsonPatch, mergePatch, openClient, strategicPatch } from './client.ts';

const client = await openClient();
const applyPatch = 'application/apply-patch+yaml';
const unreadable = byVersion({
  '1.34': /^error decoding YAML: error converting YAML to JSON: yaml: /u,
  '1.37': /^error (?:encoding patch: |decoding patch: error converting YAML to JSON: )yaml: /u,
});
const configMaps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

test('alias bombs and deep nesting are 400 in each format and kind of write', async () => {
  const namespace = await client.namespace();
  const path = `${configMaps(namespace)}/hostile`;
  await client.make(configMaps(namespace), { metadata: { name: 'hostile' } });
  for (const [name, text] of Object.entries({ bomb: aliasBomb, ...deepTexts })) {
    expect(await client.post(configMaps(namespace), text, { type: 'application/yaml' }), 400);
    const applied = expect(await client.patch(`${path}?fieldManager=test`, applyPatch, text), 400);
    assert.match(applied.message, unreadable, name);
  }
  for (const text of [deepJson, deepJson.slice(0, -10)]) {
    const posted = expect(await client.post(configMaps(namespace), text, { type: 'application/json' }), 400);
    assert.match(posted.message, /exceeded max depth|Expected|Unexpected/u);
    for (const type of [mergePatch, strategicPatch, jsonPatch]) expect(await client.patch(path, type, text), 400);
  }
  expect(await client.get(path), 200);
});

test('a large configuration is applied as JSON; repeated keys are found in it', async () => {
  const namespace = await client.namespace();
  const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key-${at}`, 'x']));
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data }, undefined, 1);
  const apply = (text: string, query = ''): ReturnType<typeof client.patch> =>
    client.patch(`${configMaps(namespace)}/large?fieldManager=test${query}`, applyPatch, text);
  const applied = expect(await apply(body), 201);
  assert.equal(Object.keys(applied.data).length, 20_000);
  const twice = body.replace('"data": {', '"data": {"key-7": "y",');
  const refused = expect(await apply(twice, '&fieldValidation=Strict'), 400);
  assert.match(refused.message, /line \d+: key "key-7" already set in map/u);
  expect(await apply(twice), 200);
});

test('4,000 entries of managedFields in a POST: answered within a second', {
  skip: only('embedded', 'the real one accepts them too, and takes more than three seconds of a thread of its own'),
}, async () => {
  const namespace = await client.namespace();
  const managedFields = Array.from({ length: 4_000 }, (_, at) => ({
    manager: `m${at}`,
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { [`f:k${at}`]: {} } },
  }));
  const answersMs: number[] = [];
  for (let tries = 0; tries < 3; tries += 1) {
    const beganMs = performance.now();
    expect(await client.post(configMaps(namespace), { metadata: { name: `owned-${tries}`, managedFields } }), 201);
    answersMs.push(performance.now() - beganMs);
  }
  assert.ok(Math.min(...answersMs) < 1_000, `${answersMs.map(Math.round).join(', ')} ms`);
});
