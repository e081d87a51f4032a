// Content negotiation: the requested encoding, and decoding by the response's Content-Type.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { plainConnection } from '../../support/plain-connection.ts';
import type { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { jsonType, protobufType } from '../../../src/machinery/wire/wire-format.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RawHttpServer } from '../../support/raw-http-server.ts';

const golden = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'golden', name));
const { signal } = new AbortController();

describe('the encoding of responses', () => {
  const server = new RawHttpServer();
  let api: HttpKubeApi;

  /** Responds to every request with these bytes. */
  function serve(name: string, contentType: string, code = 200): void {
    const body = golden(name);
    server.handler = ({ socket }) => {
      const head = `HTTP/1.1 ${code} X\r\ncontent-type: ${contentType}\r\ncontent-length: ${body.length}\r\n\r\n`;
      socket.write(Buffer.concat([Buffer.from(head), body]));
    };
  }

  const accepted = (): string | undefined => server.requests.at(-1)?.headers['accept'];

  before(() => server.start());
  after(() => server.stop());
  beforeEach(() => {
    api = makeKubeApi(plainConnection(server.url), { contentType: protobufType });
  });
  afterEach(() => api.close());

  test('JSON by default', async () => {
    const plain = makeKubeApi(plainConnection(server.url));
    serve('nodes-bare.json', jsonType);
    await plain.get('nodes', { name: 'bare' }, { signal });
    assert.equal(accepted(), jsonType);
    await plain.close();
  });

  test('protobuf for supported resources, JSON for others and for what is written back', async () => {
    const both = `${protobufType},${jsonType}`;
    serve('nodes-bare.json', jsonType);
    for (const resource of ['nodes', 'pods', 'leases'] as const) {
      await api.get(resource, { namespace: 'n', name: 'bare' }, { signal });
      assert.equal(accepted(), both, resource);
    }
    await api.watch('pods', { signal });
    assert.equal(accepted(), `${protobufType};stream=watch,${jsonType}`);
    await api.get('daemonsets', { namespace: 'n', name: 'bare' }, { signal });
    assert.equal(accepted(), jsonType);
    await api.patch('nodes', { name: 'bare' }, { type: 'merge', body: {} }, { signal });
    assert.equal(accepted(), both);
    await api.delete('pods', { namespace: 'n', name: 'bare' }, { uid: 'u', signal });
    assert.equal(accepted(), both);
    await api.patch('daemonsets', { namespace: 'n', name: 'bare' }, { type: 'merge', body: {} }, { signal });
    assert.equal(accepted(), jsonType);
    const lease = { metadata: { namespace: 'n', name: 'bare' } };
    await api.create('leases', lease, { signal });
    assert.equal(accepted(), jsonType);
    await api.replace('leases', lease, { signal });
    assert.equal(accepted(), jsonType);
  });

  for (const [name, contentType] of [
    ['nodes-bare.pb', protobufType],
    ['nodes-bare.pb', 'Application/VND.kubernetes.protobuf ; charset=utf-8'],
    ['nodes-bare.json', jsonType],
    ['nodes-bare.json', `${jsonType};charset=utf-8`],
  ] as const) {
    test(`${contentType} is decoded by its Content-Type`, async () => {
      serve(name, contentType);
      assert.equal((await api.get('nodes', { name: 'bare' }, { signal })).metadata.name, 'bare');
      const patch = { type: 'merge', body: {} } as const;
      assert.equal((await api.patch('nodes', { name: 'bare' }, patch, { signal })).metadata.name, 'bare');
      await api.delete('nodes', { name: 'bare' }, { uid: 'u', signal });
    });
  }

  for (const [name, contentType] of [
    ['refused-not-found.pb', protobufType],
    ['refused-not-found.json', jsonType],
  ] as const) {
    test(`an error response as ${contentType} is decoded`, async () => {
      serve(name, contentType, 404);
      const refused = { name: 'ApiError', reason: 'not-found', code: 404 };
      const pod = { namespace: 'n', name: 'unknown' };
      await assert.rejects(api.get('nodes', { name: 'unknown' }, { signal }), refused);
      await assert.rejects(api.list('pods', { signal }), refused);
      await assert.rejects(api.watch('leases', { signal }), refused);
      await assert.rejects(api.patch('pods', pod, { type: 'merge', body: {} }, { signal }), refused);
      await assert.rejects(api.delete('pods', pod, { uid: 'u', signal }), refused);
    });
  }

  test('a list that is interrupted after objects were received is not retried', async () => {
    const body = golden('pods-list.pb');
    server.requests.length = 0;
    server.handler = ({ socket }) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: ${protobufType}\r\ncontent-length: ${body.length}\r\n\r\n`;
      socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, body.length - 10)]));
      setTimeout(() => socket.destroy(), 50);
    };
    const names: (string | undefined)[] = [];
    const list = api.list('pods', { signal, each: ({ metadata }) => names.push(metadata.name) });
    await assert.rejects(list, { name: 'ApiError', reason: 'unavailable' });
    assert.ok(names.length > 0);
    assert.equal(server.requests.length, 1);
  });

  test('an error of the receiver is reported and the list is not retried', async () => {
    serve('pods-list.json', jsonType);
    server.requests.length = 0;
    const each = (): void => {
      throw new Error('no');
    };
    await assert.rejects(api.list('pods', { signal, each }), { name: 'ApiError', reason: 'internal' });
    assert.equal(server.requests.length, 1);
  });
});
