import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { contentHash } from '../../../../src/apiserver/discovery/content-hash.ts';
import { OpenApi } from '../../../../src/apiserver/discovery/open-api.ts';
import { describedFields, describedTypes } from '../../../../src/apiserver/discovery/schema-descriptions.ts';
import { servedResources } from '../../../../src/apiserver/discovery/served-resources.ts';

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly 'x-kubernetes-group-version-kind': object;
}

interface Property extends Readonly<Record<string, unknown>> {
  readonly items?: object;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { readonly description?: string; readonly properties?: Readonly<Record<string, Property>> }>
    >;
  };
}

const openApi = new OpenApi({ title: 'test', version: 'v1.36.3' });
const index = JSON.parse(openApi.index().text) as { paths: Record<string, { serverRelativeURL: string }> };

function documentAt(path: string): Document {
  return JSON.parse(openApi.document(path)?.text ?? 'null') as Document;
}

test('the index points at every group version by its hash', () => {
  assert.equal(Object.keys(index.paths).length, 6);
  for (const [path, { serverRelativeURL }] of Object.entries(index.paths)) {
    assert.equal(serverRelativeURL, `/openapi/v3/${path}?hash=${openApi.document(path)?.hash}`);
  }
  assert.equal(openApi.document('apis/policy/v1'), undefined);
  assert.equal(openApi.document('version'), undefined);
});

test('every reference leads to a schema of the same document', () => {
  for (const path of Object.keys(index.paths)) {
    const text = openApi.document(path)?.text ?? '';
    const known = new Set(Object.keys(documentAt(path).components.schemas));
    const referred = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1] ?? '');
    assert.ok(referred.length > 0, path);
    for (const name of referred) assert.ok(known.has(name), `${path}: ${name}`);
  }
});

test('each kind can be patched, strictly, as the extension of the operation says', () => {
  for (const { group, version, kind } of servedResources.filter(({ review }) => !review)) {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    const patches = Object.values(documentAt(path).paths).flatMap((item) => item['patch'] ?? []);
    const wanted = JSON.stringify({ group, kind, version });
    const patch = patches.find((each) => JSON.stringify(each['x-kubernetes-group-version-kind']) === wanted);
    assert.ok(patch?.parameters.some((parameter) => parameter.name === 'fieldValidation' && parameter.in === 'query'));
    assert.ok(patch?.requestBody?.content['application/strategic-merge-patch+json'], kind);
  }
});

test('lists are merged as the Go types say: containers by name, taints and tolerations not at all', () => {
  const { schemas } = documentAt('api/v1').components;
  const containers = schemas['io.k8s.api.core.v1.PodSpec']?.properties?.['containers'];
  assert.equal(containers?.['x-kubernetes-patch-merge-key'], 'name');
  assert.equal(containers?.['x-kubernetes-patch-strategy'], 'merge');
  for (const atomic of [
    schemas['io.k8s.api.core.v1.PodSpec']?.properties?.['tolerations'],
    schemas['io.k8s.api.core.v1.NodeSpec']?.properties?.['taints'],
  ]) {
    assert.equal(atomic?.['type'], 'array');
    assert.equal(atomic?.['x-kubernetes-patch-strategy'], undefined);
  }
});

test('inlined structs have no property of their own', () => {
  const volume = documentAt('api/v1').components.schemas['io.k8s.api.core.v1.Volume']?.properties ?? {};
  assert.ok(volume['emptyDir']);
  assert.equal(volume['volumeSource'], undefined);
});

test('each description is of a type and a field that exist', () => {
  const schemas = Object.keys(index.paths).flatMap((path) => Object.entries(documentAt(path).components.schemas));
  const fieldsOf = (type: string): readonly string[] =>
    schemas.filter(([name]) => name.endsWith(`.${type}`)).flatMap(([, schema]) => Object.keys(schema.properties ?? {}));
  for (const type of Object.keys(describedTypes)) assert.ok(fieldsOf(type).length > 0, type);
  for (const [type, fields] of Object.entries(describedFields)) {
    const known = new Set(fieldsOf(type));
    const wrong = Object.keys(fields).filter((field) => !known.has(field));
    // The conditions of kinds share their words; not each of them has a heartbeat or a probe.
    assert.deepEqual(wrong, [], type);
  }
});

test('the hash is stable, of one length, and differs between texts', () => {
  assert.equal(contentHash(''), '811c9dc50badcafe');
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      assert.match(contentHash(a), /^[0-9a-f]{16}$/);
      assert.equal(contentHash(a) === contentHash(b), a === b);
    }),
  );
});
