/** Behaviour of the embedded server only: startup and shutdown, both protocols, tokens, limits, expiry. */
import assert from 'node:assert/strict';
import { connect as connectHttp2 } from 'node:http2';
import { createConnection, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Agent, request } from 'undici';
import { parse as parseYaml } from 'yaml';
import type { ApiServerOptions, RunningApiServer } from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import { StoredObject } from '../../../src/hollow-cluster/apiserver/storage/stored-object.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { embeddedBackend } from './backend.ts';
import { Client, expect, podPath, typesOf } from './client.ts';

/** Starts a server with these options; fails if it logs an error. */
async function withServer(
  options: Partial<ApiServerOptions>,
  use: (server: RunningApiServer, client: Client) => Promise<void>,
): Promise<void> {
  const backend = await embeddedBackend(options);
  const client = new Client(backend);
  try {
    await use(backend.server, client);
  } finally {
    await client.close();
  }
}

const bearer = (server: RunningApiServer): Record<string, string> => ({ authorization: `Bearer ${server.adminToken}` });

test('plain HTTP works without certificates', async () => {
  await withServer({ tls: false }, async (server, client) => {
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(server.caPem, undefined);
    expect(await client.get('/api/v1/nodes'), 200);
  });
});

test('tokens identify users; without one only health and version are served', async () => {
  const tokens = [{ token: 'secret', user: 'kubelet', uid: 'u', groups: ['system:nodes'] }];
  await withServer({ tokens }, async (server, client) => {
    assert.equal(server.adminToken, 'secret');
    const headers = { authorization: '' };
    expect(await client.get('/api/v1/nodes', { headers }), 401);
    expect(await client.get('/version', { headers }), 200);
    const review = expect(await client.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}), 201);
    const { username, groups } = review.status.userInfo;
    assert.deepEqual([username, groups], ['kubelet', ['system:nodes', 'system:authenticated']]);
  });
});

test('the kubeconfig contains server, CA and token', async () => {
  await withServer({}, async (server) => {
    const config = parseYaml(server.kubeconfig());
    assert.equal(config.clusters[0].cluster.server, server.url);
    const authority = Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64').toString();
    assert.equal(authority, server.caPem);
    assert.equal(config.users[0].user.token, server.adminToken);
  });
});

test('HTTP/2 clients are served on the same port, watches included', async () => {
  await withServer({}, async (server, client) => {
    const session = connectHttp2(server.url, { ca: server.caPem ?? '' });
    const watch = session.request({ ':path': '/api/v1/nodes?watch=true', ...bearer(server) });
    const lines: string[] = [];
    const ended = new Promise<void>((resolve) => {
      watch.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
      watch.once('close', resolve);
    });
    const headers = await new Promise<Record<string, unknown>>((resolve) => {
      watch.once('response', resolve);
    });
    assert.equal(headers[':status'], 200);
    await client.node({ metadata: { name: 'n1' } });
    while (lines.length === 0) await new Promise(setImmediate);
    assert.match(lines.join(''), /"type":"ADDED".*"name":"n1"/);
    server.dropConnections();
    await ended;
    session.destroy();
  });
});

test('close ends watches cleanly and closes all connections', async () => {
  const { server } = await embeddedBackend();
  const agent = new Agent({ connect: { ca: server.caPem ?? '' }, allowH2: false });
  const watch = await request(`${server.url}/api/v1/nodes?watch=true`, { dispatcher: agent, headers: bearer(server) });
  const text = watch.body.text();
  await server.close();
  assert.equal(await text, '');
  await assert.rejects(request(`${server.url}/version`, { dispatcher: agent }));
  await agent.destroy();
});

test('events expire with a DELETED event', async () => {
  await withServer({ eventTtlMs: 50 }, async (_server, client) => {
    const event = { involvedObject: { kind: 'Node', name: 'n' }, reason: 'R', message: 'm', type: 'Normal' };
    const watch = await client.watch('/api/v1/events?timeoutSeconds=4');
    await client.post('/api/v1/namespaces/default/events', { metadata: { name: 'e' }, ...event });
    assert.deepEqual(typesOf(await watch.take(2)), ['ADDED', 'DELETED']);
  });
});

test('bookmarks are sent at the configured interval', async () => {
  await withServer({ bookmarkPeriodMs: 50 }, async (_server, client) => {
    const watch = await client.watch('/api/v1/nodes?allowWatchBookmarks=true');
    for (const { type, line } of await watch.take(3)) {
      assert.equal(type, 'BOOKMARK');
      assert.match(line, /"kind":"Node","apiVersion":"v1","metadata":\{"resourceVersion":"\d+"\}/);
    }
  });
});

test('a fixed watch window drops the oldest changes', async () => {
  await withServer({ watchWindow: 3 }, async (server, client) => {
    const before = server.revision();
    for (let made = 0; made < 5; made += 1) await client.node();
    const watch = await client.watch(`/api/v1/nodes?timeoutSeconds=1&resourceVersion=${before}`);
    const [event] = await watch.take(1);
    assert.match(event?.line ?? '', /"type":"ERROR".*too old resource version/);
  });
});

/** Opens a raw watch connection and never reads from it. */
async function stalledWatch(server: RunningApiServer): Promise<Socket> {
  const socket = createConnection(server.port, '127.0.0.1');
  socket.pause();
  socket.on('error', () => {});
  const head = [`GET /api/v1/nodes?watch=true HTTP/1.1`, 'host: x', `authorization: Bearer ${server.adminToken}`];
  await new Promise<void>((resolve) => {
    socket.write(`${head.join('\r\n')}\r\n\r\n`, () => resolve());
  });
  return socket;
}

test('T118 a watch whose client does not read is closed, and others receive every event', async () => {
  await withServer({ tls: false }, async (server, client) => {
    const stalled = await stalledWatch(server);
    while ((await client.openWatches()) === 0) await new Promise(setImmediate);
    const reading = await client.watch('/api/v1/nodes');
    // Only names are kept: the objects are large.
    const listening = (async () => {
      const names = new Set<string>();
      for (let event = await reading.next(); event !== undefined; event = await reading.next()) {
        if (event.object.metadata.name === 'last') break;
        names.add(event.object.metadata.name);
      }
      return names;
    })();
    const big = 'x'.repeat(200_000);
    let made = 0;
    while ((await client.openWatches()) === 2) {
      assert.ok(made < 500, 'the stalled watch was never closed');
      await client.node({ metadata: { annotations: { big } } });
      made += 1;
    }
    await client.node({ metadata: { name: 'last' } });
    assert.equal((await listening).size, made);
    stalled.destroy();
  });
});

/** What a raw connection receives for this request, until `isComplete`, or until the connection is closed. */
async function receive(socket: Socket, isComplete: (text: string) => boolean): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    socket.on('close', () => resolve(text));
    socket.on('data', (part: Buffer) => {
      text += part.toString();
      if (isComplete(text)) resolve(text);
    });
  });
}

test('over HTTP/1.1 a timeout is answered before the body is complete, and the connection serves other requests', async () => {
  await withServer({ tls: false }, async (server, client) => {
    const socket = createConnection(server.port, '127.0.0.1');
    const common = `host: x\r\nauthorization: Bearer ${server.adminToken}\r\n`;
    const body = JSON.stringify({ metadata: { name: 'late' } });
    const sized = `content-type: application/json\r\ncontent-length: ${body.length}`;
    socket.write(`POST /api/v1/nodes?timeout=200ms HTTP/1.1\r\n${common}${sized}\r\n\r\n${body.slice(0, 5)}`);
    assert.match(await receive(socket, (text) => text.endsWith('}\n')), /^HTTP\/1\.1 504 .*"code":504\}\n$/s);
    socket.write(body.slice(5));
    socket.write(`GET /api/v1/nodes/late HTTP/1.1\r\n${common}\r\n`);
    assert.match(await receive(socket, (text) => text.includes('"code":404')), /^HTTP\/1\.1 404 /);
    expect(await client.get('/api/v1/nodes/late'), 404);
    socket.destroy();
  });
});

test('a response that is not complete at its deadline is cut off', async () => {
  await withServer({ tls: false }, async (server, client) => {
    const big = 'x'.repeat(200_000);
    for (let made = 0; made < 100; made += 1) await client.node({ metadata: { annotations: { big } } });
    const socket = createConnection(server.port, '127.0.0.1');
    socket.pause();
    const head = [`GET /api/v1/nodes?timeout=300ms HTTP/1.1`, 'host: x', `authorization: Bearer ${server.adminToken}`];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.on('error', () => {});
    await new Promise((resolve) => setTimeout(resolve, 800));
    const text = await receive(socket.resume(), () => false);
    assert.match(text, /^HTTP\/1\.1 200 OK/);
    assert.ok(!text.endsWith('0\r\n\r\n'), 'the response is incomplete');
  });
});

test('a request that only kube-apiserver answers is refused with what answers it', async () => {
  await withServer({ tls: false }, async (_server, client) => {
    const reason = 'NotImplemented';
    const token = await client.post('/api/v1/namespaces/default/serviceaccounts/default/token', {});
    assert.match(expect(token, 501, { kind: 'Status', reason }).message, /nlc demo --control-plane=DIR/);
    const exec = await client.post('/api/v1/namespaces/default/pods/p/exec', {});
    assert.match(expect(exec, 501, { reason }).message, /^pods\/exec is not served .* kubelets that run containers/);
    expect(await client.get('/api/v1/nodes/n/proxy/pods'), 501, { reason });
    expect(await client.get('/api/v1/componentstatuses'), 404);
  });
});

test('a stalled server answers no request and sends no event until the stall ends', async () => {
  await withServer({}, async (server, client) => {
    const watch = await client.watch('/api/v1/nodes');
    const before = server.revision();
    server.stall(60_000);
    const held = client.node();
    const outcome = await Promise.race([held, new Promise((resolve) => setTimeout(resolve, 200, 'waiting'))]);
    assert.deepEqual([outcome, server.revision()], ['waiting', before]);
    server.endStall();
    await held;
    const [event] = await watch.take(1);
    assert.match(event?.line ?? '', /"type":"ADDED"/);
  });
});

test('a request whose client gives up during a stall is not carried out', async () => {
  await withServer({ tls: false }, async (server, client) => {
    const before = server.revision();
    server.stall(60_000);
    const gone = new AbortController();
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'late' } });
    const headers = { ...bearer(server), 'content-type': 'application/json' };
    const sent = fetch(`${server.url}/api/v1/nodes`, { method: 'POST', headers, body, signal: gone.signal });
    await new Promise((resolve) => setTimeout(resolve, 100));
    gone.abort();
    await assert.rejects(sent);
    await new Promise((resolve) => setTimeout(resolve, 100));
    server.endStall();
    expect(await client.get('/api/v1/nodes/late'), 404);
    assert.equal(server.revision(), before);
  });
});

test('a grace period of millennia ends at the last time that can be written, and hides no other pod', async () => {
  await withServer({}, async (_server, client) => {
    const pods = '/api/v1/namespaces/default/pods';
    const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 9e15 };
    const [deleted, evicted] = [await client.pod('default', { spec }), await client.pod('default', { spec })];
    const watch = await client.watchChanges(pods);
    expect(await client.delete(`${podPath(deleted)}?gracePeriodSeconds=300000000000`), 200);
    const { name } = evicted.metadata;
    expect(await client.post(`${podPath(evicted)}/eviction`, { metadata: { name } }), 201);
    // The eviction writes its condition first.
    const times = (await watch.take(3)).map(({ object }) => object.metadata.deletionTimestamp);
    assert.deepEqual(times, ['9999-12-31T23:59:59Z', undefined, '9999-12-31T23:59:59Z']);
    const list = await client.get(pods, { accept: 'application/vnd.kubernetes.protobuf' });
    assert.equal(list.code, 200);
    assert.ok(list.bytes.includes(deleted.metadata.name) && list.bytes.includes(name));
  });
});

/** Objects with the name `bad` have no protobuf form. */
function failToEncodeBad(t: TestContext): void {
  const encodable = Object.getOwnPropertyDescriptor(StoredObject.prototype, 'encodable')?.value;
  t.mock.method(StoredObject.prototype, 'encodable', function encodeUnlessBad(this: StoredObject) {
    if (this.name === 'bad') throw new RangeError('1e300 is not an integer of 64 bits');
    return encodable.call(this);
  });
}

test('a list with an object that cannot be encoded is answered 500', async (t) => {
  await withServer({ logger: new RecordingLogger() }, async (_server, client) => {
    failToEncodeBad(t);
    for (const name of ['bad', 'good']) await client.pod('default', { metadata: { name } });
    const accept = 'application/vnd.kubernetes.protobuf';
    const { code, bytes } = await client.get('/api/v1/namespaces/default/pods', { accept });
    assert.equal(code, 500);
    assert.ok(bytes.includes('Internal error occurred: 1e300 is not an integer of 64 bits'));
    expect(await client.get('/api/v1/namespaces/default/pods'), 200);
  });
});

test('an object that cannot be encoded ends the watches that would send it, with one warning that names it', async (t) => {
  const logger = new RecordingLogger();
  await withServer({ logger }, async (_server, client) => {
    failToEncodeBad(t);
    const accept = 'application/vnd.kubernetes.protobuf';
    const pods = '/api/v1/namespaces/default/pods';
    const open = [await client.watchChanges(pods, '', accept), await client.watchChanges(pods, '', accept)];
    const json = await client.watchChanges(pods);
    await client.pod('default', { metadata: { name: 'bad' } });
    assert.deepEqual(await Promise.all(open.map((watch) => watch.next())), [undefined, undefined]);
    const initial =
      '?resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    assert.equal(await (await client.watch(`${pods}${initial}`, accept)).next(), undefined);
    // From before the pod, whose change is in the window.
    const [{ object } = { object: undefined }] = await json.take(1);
    assert.equal(object.metadata.name, 'bad');
    const before = Number(object.metadata.resourceVersion) - 1;
    assert.equal(await (await client.watch(`${pods}?resourceVersion=${before}`, accept)).next(), undefined);
  });
  assert.deepEqual(logger.at('warn'), [
    {
      level: 'warn',
      message: 'watch ended: object cannot be encoded',
      fields: { resource: 'pods', namespace: 'default', name: 'bad', reason: '1e300 is not an integer of 64 bits' },
    },
  ]);
  assert.deepEqual(logger.at('error'), []);
});

test('OpenAPI v2 has no schemas, and only kubectl gets it', async () => {
  await withServer({ tls: false }, async (_server, client) => {
    const kubectl = { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' };
    assert.equal((await client.get('/openapi/v2', kubectl)).code, 200);
    assert.equal((await client.get('/openapi/v2')).code, 404);
  });
});
