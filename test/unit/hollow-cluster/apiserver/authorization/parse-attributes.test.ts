import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAttributes } from '../../../../../src/hollow-cluster/apiserver/authorization/parse-attributes.ts';

function attributes(line: string): string {
  const [method = '', url = ''] = line.split(' ');
  const { pathname: path, searchParams: query } = new URL(url, 'https://server');
  const parsed = parseAttributes({ method, path, query });
  if (parsed.kind === 'path') return `${parsed.verb} ${parsed.path}`;
  const { verb, group, namespace, resource, name, subresource } = parsed;
  return [verb, group, namespace, resource, name, subresource].join('|');
}

test('paths of resources, whether they are served or not', () => {
  assert.equal(attributes('GET /api/v1/nodes'), 'list|||nodes||');
  assert.equal(attributes('HEAD /api/v1/nodes/n'), 'get|||nodes|n|');
  assert.equal(attributes('POST /api/v1/namespaces/a/pods'), 'create||a|pods||');
  assert.equal(attributes('POST /api/v1/namespaces/a/pods/p/eviction'), 'create||a|pods|p|eviction');
  assert.equal(attributes('PUT /apis/g/v2/things/x/status/more'), 'update|g||things|x|status');
  assert.equal(attributes('PATCH /apis/g/v1/namespaces/a/things/%20x'), 'patch|g|a|things| x|');
  assert.equal(attributes('GET /%61pi/v1/secrets'), 'list|||secrets||');
  assert.equal(attributes('GET /%61pis/g%2ek8s.io/v1/%6eamespaces/a/things'), 'list|g.k8s.io|a|things||');
  assert.equal(attributes('DELETE /api/v1/nodes/%zz'), 'delete|||nodes|%zz|');
  assert.equal(attributes('DELETE /api/v1/namespaces/a/pods'), 'deletecollection||a|pods||');
  assert.equal(attributes('OPTIONS /api/v1/nodes/n'), '|||nodes|n|');
});

test('a namespace is in itself', () => {
  assert.equal(attributes('GET /api/v1/namespaces'), 'list|||namespaces||');
  assert.equal(attributes('GET /api/v1/namespaces/a'), 'get||a|namespaces|a|');
  assert.equal(attributes('PUT /api/v1/namespaces/a/finalize'), 'update||a|namespaces|a|finalize');
  assert.equal(attributes('PUT /api/v1/namespaces/a/status'), 'update||a|namespaces|a|status');
});

test('lists and watches, of one name too', () => {
  assert.equal(attributes('GET /api/v1/pods?watch=true'), 'watch|||pods||');
  assert.equal(attributes('GET /api/v1/pods?watch=0'), 'list|||pods||');
  assert.equal(attributes('GET /api/v1/pods?watch='), 'watch|||pods||');
  assert.equal(attributes('GET /api/v1/nodes?fieldSelector=metadata.name%3Dn'), 'list|||nodes|n|');
  assert.equal(attributes('GET /api/v1/nodes?fieldSelector=a%3Db,metadata.name%3D%3Dn&watch=1'), 'watch|||nodes|n|');
  assert.equal(attributes('DELETE /api/v1/nodes?fieldSelector=metadata.name%3Dn'), 'deletecollection|||nodes||');
  assert.equal(attributes('GET /api/v1/watch/pods'), 'watch|||pods||');
});

test('all other paths', () => {
  for (const path of ['/', '/api', '/api/v1', '/apis/apps', '/apis/apps/v1', '/metrics', '/healthz/ping']) {
    assert.equal(attributes(`GET ${path}`), `get ${path}`);
  }
});
