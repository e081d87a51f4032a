import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNodeId, parseProxyPath } from '../../../../src/apiserver/node-proxy/parse-proxy-path.ts';

const prefix = '/api/v1/nodes/a/proxy';

test('what follows nodes/NAME/proxy is the path for the kubelet', () => {
  const rows = [
    [prefix, ''],
    [`${prefix}/`, '/'],
    [`${prefix}/pods`, '/pods'],
    [`${prefix}/logs/`, '/logs/'],
    [`${prefix}//logs///x`, '/logs/x'],
    [`${prefix}/a%2Fb`, '/a/b'],
    [`${prefix}/a%3Fb%23c%20d`, '/a%3Fb%23c%20d'],
    [`${prefix}/a%2F..%2F..%2F..%2Fb`, '/b'],
    [`${prefix}/a%2F.`, '/a'],
    [`${prefix}/100%`, '/100%25'],
    [`${prefix}/a!*'()$&+,;=:@`, '/a%21%2A%27%28%29$&+,;=:@'],
    [`${prefix}/caf%C3%A9`, '/caf%C3%A9'],
  ];
  for (const [path = '', target] of rows) assert.deepEqual(parseProxyPath(path), { id: 'a', prefix, target }, path);
});

test('other notations of the same path are recognized, as authorization does', () => {
  const path = '/api/v1/n%6Fdes/https%3Aa%3A10250/pro%78y/pods';
  const start = '/api/v1/n%6Fdes/https%3Aa%3A10250/pro%78y';
  assert.deepEqual(parseProxyPath(path), { id: 'https:a:10250', prefix: start, target: '/pods' });
});

test('other paths are not forwarded', () => {
  const others = [
    '/api/v1/nodes',
    '/api/v1/nodes/a',
    '/api/v1/nodes/a/status',
    '/api/v1/nodes/a%2Fproxy/pods',
    '/api/v1/nodes//proxy',
    '/api/v1/pods/a/proxy',
    '/apis/v1/nodes/a/proxy',
    '/api/v2/nodes/a/proxy',
  ];
  for (const path of others) assert.equal(parseProxyPath(path), undefined, path);
});

test('a name may have a port, and with it a scheme', () => {
  const rows: readonly [string, ReturnType<typeof parseNodeId>][] = [
    ['a', { scheme: '', name: 'a', port: '' }],
    ['a:10250', { scheme: '', name: 'a', port: '10250' }],
    ['a:', { scheme: '', name: 'a', port: '' }],
    ['https:a:10250', { scheme: 'https', name: 'a', port: '10250' }],
    ['http:a:', { scheme: 'http', name: 'a', port: '' }],
    [':a:1', { scheme: '', name: 'a', port: '1' }],
    ['ftp:a:1', undefined],
    [':1', undefined],
    ['https::1', undefined],
    ['a:b:c:d', undefined],
  ];
  for (const [id, expected] of rows) assert.deepEqual(parseNodeId(id), expected, id);
});
