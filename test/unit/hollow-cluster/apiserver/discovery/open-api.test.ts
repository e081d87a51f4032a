import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { contentHash } from '../../../../../src/hollow-cluster/apiserver/discovery/content-hash.ts';
import { OpenApi } from '../../../../../src/hollow-cluster/apiserver/discovery/open-api.ts';
import { servedGroups, servedResources } from '../../../../../src/hollow-cluster/apiserver/resources.ts';

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
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, Property>> }>>;
  };
}

const openApi = new OpenApi({ title: 'test', version: 'v1.36.3' });
const index = JSON.parse(openApi.index().text) as { paths: Record<string, { serverRelativeURL: string }> };

function documentAt(path: string): Document {
  return JSON.parse(openApi.document(path)?.text ?? 'null') as Document;
}

test('the index contains the URL and hash of every group version', () => {
  const versions = [...servedGroups().values()].flat();
  assert.equal(Object.keys(index.paths).length, versions.length);
  for (const [path, { serverRelativeURL }] of Object.entries(index.paths)) {
    assert.equal(serverRelativeURL, `/openapi/v3/${path}?hash=${openApi.document(path)?.hash}`);
  }
  assert.equal(openApi.document('apis/extensions/v1'), undefined);
  assert.equal(openApi.document('version'), undefined);
});

test('every $ref resolves within its document', () => {
  for (const path of Object.keys(index.paths)) {
    const text = openApi.document(path)?.text ?? '';
    const known = new Set(Object.keys(documentAt(path).components.schemas));
    const referred = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1] ?? '');
    assert.ok(referred.length > 0, path);
    for (const name of referred) assert.ok(known.has(name), `${path}: ${name}`);
  }
});

test('every patch operation has fieldValidation and the extension with its kind', () => {
  for (const { group, version, kind } of servedResources.filter(({ review }) => !review)) {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    const patches = Object.values(documentAt(path).paths).flatMap((item) => item['patch'] ?? []);
    const wanted = JSON.stringify({ group, kind, version });
    const patch = patches.find((each) => JSON.stringify(each['x-kubernetes-group-version-kind']) === wanted);
    assert.ok(patch?.parameters.some((parameter) => parameter.name === 'fieldValidation' && parameter.in === 'query'));
    assert.ok(patch?.requestBody?.content['application/strategic-merge-patch+json'], kind);
  }
});

test('merge keys match the Go types: containers by name, taints and tolerations without one', () => {
  const { schemas } = documentAt('api/v1').components;
  const containers = schemas['io.k8s.api.core.v1.PodSpec']?.properties?.['containers'];
  assert.equal(containers?.['x-kubernetes-patch-merge-key'], 'name');
  assert.equal(containers?.['x-kubernetes-patch-strategy'], 'merge');
  for (const atomic of [
    schemas['io.k8s.api.core.v1.PodSpec']?.properties?.['tolerations'],
    schemas['io.k8s.api.core.v1.NodeSpec']?.properties?.['taints'],
  ]) {
    assert.deepEqual([atomic?.['type'], atomic?.['x-kubernetes-patch-strategy']], ['array', undefined]);
  }
});

test('inlined structs are not properties', () => {
  const volume = documentAt('api/v1').components.schemas['io.k8s.api.core.v1.Volume']?.properties ?? {};
  assert.ok(volume['emptyDir']);
  assert.equal(volume['volumeSource'], undefined);
});

test('contentHash is stable, of fixed length, and differs between texts', () => {
  assert.equal(contentHash(''), '811c9dc50badcafe');
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      assert.match(contentHash(a), /^[0-9a-f]{16}$/);
      assert.equal(contentHash(a) === contentHash(b), a === b);
    }),
  );
});
