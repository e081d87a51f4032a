/** Errors of `nodes/proxy`, before a kubelet is reached. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect, type Json, nodePath, openClient } from './client.ts';

const client = await openClient();

/** The path of the proxy of a node with these addresses. */
async function proxyOf(...addresses: readonly string[]): Promise<string> {
  const node = await client.node();
  const status: Json = { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) };
  expect(await client.patch(`${nodePath(node)}/status`, 'application/merge-patch+json', { status }), 200);
  return `${nodePath(node)}/proxy`;
}

test('a node that does not exist is not found, whatever scheme and port', async () => {
  for (const id of ['none', 'none:10250', 'https:none:10250', 'http:none:']) {
    const { message, details } = expect(await client.get(`/api/v1/nodes/${id}/proxy/pods`), 404, {
      reason: 'NotFound',
    });
    assert.equal(message, 'nodes "none" not found', id);
    assert.deepEqual(details, { name: 'none', kind: 'nodes' });
  }
});

test('a name in another form is refused', async () => {
  for (const id of ['ftp:a:1', 'a:b:c:d', ':1', 'https::1']) {
    const { message } = expect(await client.get(`/api/v1/nodes/${id}/proxy/pods`), 400, { reason: 'BadRequest' });
    assert.equal(message, `invalid node request "${id}"`);
  }
});

test('addresses of the machine and the network itself are refused', async () => {
  for (const address of ['127.0.0.1', '169.254.169.254', '::1', '0.0.0.0', '224.0.0.1', '::ffff:127.0.0.1']) {
    const { message } = expect(await client.get(`${await proxyOf(address)}/pods`), 400, { reason: 'BadRequest' });
    assert.equal(message, 'address not allowed', address);
  }
});

test('the first address counts', async () => {
  const path = await proxyOf('127.0.0.1', '203.0.113.1');
  assert.equal(expect(await client.get(`${path}/pods`), 400).message, 'address not allowed');
});

test('a node without addresses cannot be reached', async () => {
  const { message } = expect(await client.get(`${await proxyOf()}/pods`), 500, { status: 'Failure' });
  assert.equal(message, 'no preferred addresses found; known addresses: []');
});

test('there are no dry runs', async () => {
  for (const method of ['GET', 'POST']) {
    const { message } = expect(await client.send(method, '/api/v1/nodes/none/proxy/pods?dryRun=All'), 400);
    assert.equal(message, 'dryRun is not supported');
  }
});

test('the root of a kubelet has a slash at the end', async () => {
  const path = await proxyOf('203.0.113.1');
  for (const method of ['GET', 'HEAD']) {
    const response = await client.send(method, `${path}?verbose=1&x=%2F`);
    assert.equal(response.code, 301);
    assert.equal(response.headers['location'], `${path}/?verbose=1&x=%2F`);
    assert.equal(response.text, '');
  }
});

test('a port that cannot exist is not reached', async () => {
  const node = await proxyOf('203.0.113.1');
  const path = node.replace('/proxy', ':70000/proxy/metrics');
  const { message } = expect(await client.get(path), 503, { reason: 'ServiceUnavailable' });
  assert.equal(message, 'error trying to reach service: dial tcp: address 70000: invalid port');
});
