import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeSwagger } from '../../../../src/apiserver/discovery/encode-swagger.ts';

const type = 'string';

test('the protobuf form is that of gnostic for the same document', () => {
  const swagger = {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'v1' },
    paths: {
      '/api/v1/nodes/{name}': {
        patch: {
          description: 'changes nodes',
          consumes: ['application/merge-patch+json'],
          produces: ['application/json'],
          parameters: [
            { name: 'body', in: 'body', required: true, schema: { type: 'object' } },
            { name: 'fieldValidation', in: 'query', type, uniqueItems: true },
          ],
          responses: { '200': { description: 'OK', schema: { $ref: '#/definitions/Node' } } },
        },
        parameters: [{ name: 'name', in: 'path', required: true, type, uniqueItems: true }],
      },
    },
    definitions: {
      Node: {
        description: 'A node.',
        required: ['spec'],
        type: 'object',
        properties: {
          spec: { type: 'array', items: { type: 'integer', format: 'int64', minimum: -1.5, maxLength: 300 } },
          labels: { type: 'object', additionalProperties: { type } },
          free: { type: 'object', additionalProperties: true },
        },
      },
    },
  };
  assert.equal(encodeSwagger(swagger).toString('hex'), encodedByGnostic.join(''));
});

test('extensions, defaults and values of an enumeration are YAML texts', () => {
  const schema = { type, default: 'a', enum: ['a'], 'x-kubernetes-group-version-kind': [{ kind: 'Node' }] };
  const text = encodeSwagger({ definitions: { a: schema } }).toString('latin1');
  assert.ok(text.includes('x-kubernetes-group-version-kind\x12'));
  assert.ok(text.includes('[{"kind":"Node"}]'));
  assert.equal(text.split('\x12\x03"a"').length, 3);
});

/** What `openapi_v2.ParseDocument` of gnostic-models v0.7.0 and the deterministic marshaller of Go make of it. */
const encodedByGnostic = [
  '0a03322e3012100a0a4b756265726e657465731202763142f40112f1010a142f6170692f76312f6e6f6465732f7b6e61',
  '6d657d12d80142b4011a0d6368616e676573206e6f64657332106170706c69636174696f6e2f6a736f6e3a1c6170706c',
  '69636174696f6e2f6d657267652d70617463682b6a736f6e421f0a1d0a1b1204626f64791a04626f647920012a0bb201',
  '080a066f626a65637442290a2712251a2312057175657279220f6669656c6456616c69646174696f6e3206737472696e',
  '67a001014a270a250a03323030121e0a1c0a024f4b12160a140a12232f646566696e6974696f6e732f4e6f64654a1f0a',
  '1d121b2219080112047061746822046e616d652a06737472696e679801014aa3010aa0010a044e6f6465129701220741',
  '206e6f64652e9a010473706563b201080a066f626a656374ca01790a360a0473706563122eb201070a056172726179ba',
  '01210a1f1205696e74363449000000000000f8bf58ac02b201090a07696e74656765720a250a066c6162656c73121baa',
  '010d0a0bb201080a06737472696e67b201080a066f626a6563740a180a04667265651210aa01021001b201080a066f62',
  '6a656374',
];
