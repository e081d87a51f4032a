import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonMap } from '../../../../src/api/json-map.ts';
import { buildSwagger } from '../../../../src/apiserver/discovery/build-swagger.ts';
import { OpenApi } from '../../../../src/apiserver/discovery/open-api.ts';
import { mapAt } from '../../../../src/apiserver/select-field.ts';

const kindsOf = 'x-kubernetes-group-version-kind';

function definitionOf(schema: JsonMap): JsonMap {
  const swagger = buildSwagger({}, [{ paths: {}, components: { schemas: { a: schema } } }]);
  return mapAt(swagger, 'definitions', 'a');
}

const rows: readonly (readonly [string, JsonMap, JsonMap])[] = [
  [
    'a reference with a description',
    { properties: { b: { allOf: [{ $ref: '#/components/schemas/b' }], description: 'B.' } } },
    { properties: { b: { $ref: '#/definitions/b', description: 'B.' } } },
  ],
  [
    'references in items and in the values of maps',
    { items: { $ref: '#/components/schemas/b' }, additionalProperties: { $ref: '#/components/schemas/c' } },
    { items: { $ref: '#/definitions/b' }, additionalProperties: { $ref: '#/definitions/c' } },
  ],
  ['a quantity is a string', { oneOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'string' }],
  [
    'a field that may be null may be anything',
    { type: 'object', nullable: true, properties: { b: {} }, description: 'A.' },
    { description: 'A.' },
  ],
  ['alternatives are left out', { type: 'object', anyOf: [{ required: ['b'] }] }, { type: 'object' }],
];

for (const [title, schema, expected] of rows) {
  test(title, () => {
    assert.deepEqual(definitionOf(schema), expected);
  });
}

test('a type that several documents have is a kind of each', () => {
  const documents = ['v1', 'v2'].map((version) => ({
    components: { schemas: { a: { type: 'object', [kindsOf]: [{ version }] } } },
  }));
  const kinds = mapAt(buildSwagger({}, [...documents, ...documents]), 'definitions', 'a')[kindsOf];
  assert.deepEqual(kinds, [{ version: 'v1' }, { version: 'v2' }]);
});

test('the server document has a definition for every reference, and declares the parameters of every path', () => {
  const { text } = new OpenApi({ title: 'test', version: 'v1' }).swagger();
  const swagger = JSON.parse(text) as JsonMap;
  const definitions = mapAt(swagger, 'definitions');
  for (const [, name = ''] of text.matchAll(/"\$ref":"([^"]*)"/g)) {
    assert.ok(name.replace('#/definitions/', '') in definitions, name);
  }
  assert.doesNotMatch(text, /"(oneOf|allOf|anyOf|nullable)":|#\/components/);
  const { parameters } = mapAt(swagger, 'paths', '/api/v1/namespaces/{namespace}/pods/{name}');
  assert.partialDeepStrictEqual(parameters, [
    { name: 'namespace', in: 'path', required: true },
    { name: 'name', in: 'path', required: true },
  ]);
});
