import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildRequestHeaders,
  buildResponseHeaders,
} from '../../../../src/apiserver/node-proxy/build-forwarded-headers.ts';

const origin = { host: 'api:6443', remoteAddress: '10.1.1.1', uri: '/api/v1/nodes/a/proxy/pods' };
const added = { host: 'api:6443', 'x-forwarded-for': '10.1.1.1', 'x-forwarded-uri': origin.uri };

test('a kubelet receives no credentials and no headers of the connection', () => {
  const raw = [
    [':method', 'GET'],
    ['Host', 'other'],
    ['Authorization', 'Bearer secret'],
    ['Proxy-Authorization', 'Basic secret'],
    ['Impersonate-User', 'a'],
    ['Impersonate-Extra-x', 'a'],
    ['Connection', 'keep-alive, X-Only-Here'],
    ['X-Only-Here', '1'],
    ['Keep-Alive', 'timeout=5'],
    ['TE', 'trailers'],
    ['Transfer-Encoding', 'chunked'],
    ['Upgrade', 'h2c'],
    ['Expect', '100-continue'],
    ['Accept', 'application/json'],
    ['X-Two', '1'],
    ['x-two', '2'],
  ].flat();
  assert.deepEqual(buildRequestHeaders(raw, origin), { ...added, accept: 'application/json', 'x-two': ['1', '2'] });
});

test('the address of the client is added to those of earlier proxies, and cookies are one header', () => {
  const raw = ['X-Forwarded-For', '10.9.9.9', 'cookie', 'a=1', 'cookie', 'b=2'];
  assert.deepEqual(buildRequestHeaders(raw, origin), {
    ...added,
    'x-forwarded-for': '10.9.9.9, 10.1.1.1',
    cookie: 'a=1; b=2',
  });
});

const context = { prefix: '/api/v1/nodes/a/proxy', hosts: ['10.0.0.1:10250', 'api:6443'] };

test('a response keeps its end-to-end headers', () => {
  const raw = [
    ['Content-Type', 'text/plain'],
    ['Connection', 'close, x-hop'],
    ['X-Hop', '1'],
    ['Transfer-Encoding', 'chunked'],
    ['Trailer', 'x'],
    ['Access-Control-Allow-Origin', '*'],
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
  ].flat();
  assert.deepEqual(buildResponseHeaders(raw, context), { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] });
});

test('a redirect to a path of the same server leads through the proxy', () => {
  const rows = [
    ['/logs/', '/api/v1/nodes/a/proxy/logs/'],
    ['/api/v1/nodes/a/proxy/logs/', '/api/v1/nodes/a/proxy/logs/'],
    ['https://10.0.0.1:10250/logs/?x=1', '/api/v1/nodes/a/proxy/logs/?x=1'],
    ['//api:6443/logs', '/api/v1/nodes/a/proxy/logs'],
    ['logs/', 'logs/'],
    ['https://elsewhere/logs', 'https://elsewhere/logs'],
  ];
  for (const [given = '', location] of rows) {
    assert.deepEqual(buildResponseHeaders(['Location', given], context), { location }, given);
  }
});
