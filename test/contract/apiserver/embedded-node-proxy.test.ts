/** The embedded server forwards `nodes/proxy` to kubelets: HTTPS servers of the test on loopback. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createPlainServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { Agent, request } from 'undici';
import type { KubeletClientOptions } from '../../../src/apiserver/http/kubelet-client.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { until } from '../../support/until.ts';
import { embeddedBackend } from './backend.ts';
import { Client, expect, type Json, nodePath, openClient } from './client.ts';
import { answerOf, openSession } from './http2-client.ts';

const authority = await TestAuthority.make();
const serving = await authority.sign({ subject: 'CN=kubelet', hosts: ['127.0.0.1'] });
const clientPair = await authority.sign({ subject: 'CN=api-server' });
const credentials = { certPem: clientPair.cert, keyPem: clientPair.key };
const isProxyable = (address: string): boolean => address === '127.0.0.1';
const trusted: KubeletClientOptions = {
  client: credentials,
  caPem: authority.cert,
  isProxyable,
};
const client = await openClient({ kubelets: trusted });

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function startKubelet(handler: Handler, options: ServerOptions = {}): Promise<number> {
  const tls = { key: serving.key, cert: serving.cert, ca: authority.cert, requestCert: true };
  return listen(createServer({ ...tls, rejectUnauthorized: true, ...options }, handler));
}

/** The path of the proxy of a new node whose kubelet has that port. */
async function proxyOf(port: number, on: Client = client): Promise<string> {
  const node = await on.node();
  const status: Json = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  expect(await on.patch(`${nodePath(node)}/status`, 'application/merge-patch+json', { status }), 200);
  return `${nodePath(node)}/proxy`;
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Answers with what has arrived. */
const echo: Handler = (incoming, outgoing) => {
  const peer = (incoming.socket as Partial<TLSSocket>).getPeerCertificate?.();
  void bodyOf(incoming).then((body) => {
    const { method, url, headers } = incoming;
    outgoing.writeHead(207, { 'content-type': 'application/json', 'x-kubelet': 'yes' });
    outgoing.end(JSON.stringify({ method, url, headers, body, peer: peer?.subject?.CN ?? '' }));
  });
};
const echoPort = await startKubelet(echo);

async function withServer(kubelets: KubeletClientOptions, use: (other: Client) => Promise<void>): Promise<void> {
  const other = new Client(await embeddedBackend({ kubelets }));
  try {
    await use(other);
  } finally {
    await other.close();
  }
}

test('path, query, status and headers pass through, and the API server shows its client certificate', async () => {
  const path = await proxyOf(echoPort);
  const response = await client.get(`${path}/pods/a%20b/?timeout=1s&x=%2F`, { headers: { 'x-mine': '1' } });
  const { method, url, headers, body, peer } = expect(response, 207);
  assert.deepEqual([method, url, body, peer], ['GET', '/pods/a%20b/?timeout=1s&x=%2F', '', 'api-server']);
  assert.equal(response.headers['x-kubelet'], 'yes');
  assert.equal(response.headers['content-type'], 'application/json');
  assert.ok(response.headers['audit-id']);
  assert.equal(headers.authorization, undefined);
  assert.equal(headers['x-mine'], '1');
  assert.equal(headers['x-forwarded-uri'], `${path}/pods/a%20b/`);
  assert.equal(headers['x-forwarded-for'], '127.0.0.1');
  assert.equal(headers.host, new URL(client.backend.url).host);
});

test('every method is forwarded with its body, also one without a length', async () => {
  const path = `${await proxyOf(echoPort)}/run`;
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET']) {
    const sized = expect(await client.send(method, path, { body: '{"a":1}', type: 'text/x' }), 207);
    assert.deepEqual([sized.method, sized.body, sized.headers['content-length']], [method, '{"a":1}', '7']);
    const unsized = await request(client.backend.url + path, {
      method: method as 'GET',
      headers: { authorization: `Bearer ${client.backend.token}` },
      dispatcher: agent,
      body: Readable.from([Buffer.from('one'), Buffer.from('GET /smuggled HTTP/1.1\r\n\r\n')]),
    });
    const arrived = (await unsized.body.json()) as Json;
    assert.deepEqual(
      [arrived.method, arrived.body, arrived.headers['transfer-encoding']],
      [method, 'oneGET /smuggled HTTP/1.1\r\n\r\n', 'chunked'],
    );
  }
  const empty = expect(await client.send('POST', path), 207);
  assert.deepEqual([empty.body, empty.headers['content-length']], ['', '0']);
  const head = await client.send('HEAD', path);
  assert.deepEqual([head.code, head.text, head.headers['x-kubelet']], [207, '', 'yes']);
  expect(await client.send('OPTIONS', path), 207);
});

const agent = new Agent({ connect: { rejectUnauthorized: false } });
after(() => agent.destroy());

test('it works over HTTP/2 too', async () => {
  const session = openSession(client.backend);
  const path = `${await proxyOf(echoPort)}/stats`;
  const authorization = `Bearer ${client.backend.token}`;
  const got = await answerOf(session.request({ ':path': path, authorization }));
  assert.equal(JSON.parse(got.text).url, '/stats');
  const posting = session.request({ ':path': path, ':method': 'POST', authorization });
  posting.end('body');
  const posted = JSON.parse((await answerOf(posting)).text);
  assert.deepEqual([posted.method, posted.body, posted.headers.authorization], ['POST', 'body', undefined]);
  session.close();
});

test('a large response passes complete, and errors of the kubelet are its own', async () => {
  const size = 3_000_000;
  const port = await startKubelet(({ url }, outgoing) => {
    if (url === '/large') outgoing.end(Buffer.alloc(size, 'x'));
    else outgoing.writeHead(url === '/forbidden' ? 403 : 404).end('not here');
  });
  const path = await proxyOf(port);
  const large = await client.get(`${path}/large`);
  assert.deepEqual([large.code, large.bytes.length, large.headers['content-length']], [200, size, String(size)]);
  for (const [below, code] of [
    ['forbidden', 403],
    ['none', 404],
  ] as const) {
    const refused = await client.get(`${path}/${below}`);
    assert.deepEqual([refused.code, refused.text], [code, 'not here']);
  }
});

test('what the kubelet sends arrives at once, and a client that disconnects ends the request to it', async () => {
  let closed = 0;
  const port = await startKubelet((_incoming, outgoing) => {
    outgoing.once('close', () => {
      closed += 1;
    });
    outgoing.write('first');
  });
  const abort = new AbortController();
  const response = await request(`${client.backend.url}${await proxyOf(port)}/`, {
    headers: { authorization: `Bearer ${client.backend.token}` },
    dispatcher: agent,
    signal: abort.signal,
  });
  const { value } = await response.body[Symbol.asyncIterator]().next();
  assert.equal(String(value), 'first');
  assert.equal(closed, 0);
  abort.abort();
  await until(() => closed === 1);
});

test('a client that disconnects before the kubelet answers ends the request too', async () => {
  const seen: string[] = [];
  const port = await startKubelet((incoming) => {
    seen.push('request');
    incoming.socket.once('close', () => seen.push('closed'));
  });
  const abort = new AbortController();
  const pending = request(`${client.backend.url}${await proxyOf(port)}/`, {
    headers: { authorization: `Bearer ${client.backend.token}` },
    dispatcher: agent,
    signal: abort.signal,
  });
  await until(() => seen.length === 1);
  abort.abort();
  await assert.rejects(pending);
  await until(() => seen.length === 2);
});

test('a response that breaks off is cut off, not completed', async () => {
  const port = await startKubelet((_incoming, outgoing) => {
    outgoing.write('half', () => outgoing.destroy());
  });
  await assert.rejects(client.get(`${await proxyOf(port)}/`), /other side closed|terminated|ECONNRESET/);
});

test('a redirect of the kubelet leads through the proxy', async () => {
  const port = await startKubelet((_incoming, outgoing) => outgoing.writeHead(301, { location: '/logs/' }).end());
  const path = await proxyOf(port);
  assert.equal((await client.get(`${path}/logs`)).headers['location'], `${path}/logs/`);
});

test('a kubelet that cannot be reached is 503 with the cause', async () => {
  const closedPort = await unusedPort();
  const path = await proxyOf(closedPort);
  for (const method of ['GET', 'POST']) {
    const { message } = expect(await client.send(method, `${path}/pods`, method === 'GET' ? {} : { body: {} }), 503, {
      reason: 'ServiceUnavailable',
    });
    const cause = `dial tcp 127.0.0.1:${closedPort}: connect: connection refused`;
    assert.equal(message, `error trying to reach service: ${cause}`);
  }
});

async function unusedPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

test('connecting has a limit of time, the answer has none', async () => {
  const silent = createTcpServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const slow = await startKubelet((_incoming, outgoing) => {
    setTimeout(() => outgoing.end('late'), 1_500);
  });
  await withServer({ ...trusted, connectTimeoutMs: 1_000 }, async (other) => {
    const { port } = silent.address() as AddressInfo;
    const { message } = expect(await other.get(`${await proxyOf(port, other)}/`), 503);
    assert.equal(message, `error trying to reach service: dial tcp 127.0.0.1:${port}: i/o timeout`);
    assert.equal((await other.get(`${await proxyOf(slow, other)}/`)).text, 'late');
  });
  silent.close();
});

test('without the client certificate, and with that of another CA, a kubelet refuses', async () => {
  const foreign = await (await TestAuthority.make('foreign')).sign({ subject: 'CN=api-server' });
  const others: readonly KubeletClientOptions[] = [
    { isProxyable },
    { isProxyable, client: { certPem: foreign.cert, keyPem: foreign.key } },
  ];
  for (const kubelets of others) {
    await withServer(kubelets, async (other) => {
      const { message } = expect(await other.get(`${await proxyOf(echoPort, other)}/pods`), 503);
      assert.match(message, /^error trying to reach service: /);
    });
  }
});

test('the serving certificate is verified only if there is a CA', async () => {
  const foreign = await (await TestAuthority.make('foreign')).sign({ subject: 'CN=x', hosts: ['127.0.0.1'] });
  const wrongName = await authority.sign({ subject: 'CN=kubelet', hosts: ['127.0.0.2'] });
  for (const { key, cert } of [foreign, wrongName]) {
    const port = await startKubelet(echo, { key, cert });
    const { message } = expect(await client.get(`${await proxyOf(port)}/pods`), 503);
    assert.match(message, /^error trying to reach service: .*(certificate|altnames)/);
    await withServer({ ...trusted, caPem: undefined }, async (other) => {
      assert.equal(expect(await other.get(`${await proxyOf(port, other)}/pods`), 207).peer, 'api-server');
    });
  }
});

test('the certificate of a kubelet is verified for its address, whatever name the client has for the API server', async () => {
  const headers = { authorization: `Bearer ${client.backend.token}`, host: 'api.example:6443' };
  const answer = await request(`${client.backend.url}${await proxyOf(echoPort)}/pods`, { headers, dispatcher: agent });
  const arrived = (await answer.body.json()) as Json;
  assert.equal(arrived.headers?.host, 'api.example:6443', JSON.stringify(arrived));
});

test('another port gets plain HTTP or unverified TLS, and never the client certificate', async () => {
  const plain = await listen(createPlainServer(echo));
  const open = await startKubelet(echo, { rejectUnauthorized: false });
  const path = await proxyOf(echoPort);
  const at = (scheme: string, port: number): string =>
    path.replace(/nodes\/([^/]+)/, (_, name: string) => `nodes/${scheme}${name}:${port}`);
  assert.equal(expect(await client.get(`${at('', plain)}/metrics`), 207).url, '/metrics');
  assert.equal(expect(await client.get(`${at('http:', plain)}/metrics`), 207).url, '/metrics');
  assert.equal(expect(await client.get(`${at('https:', open)}/metrics`), 207).peer, '');
  assert.equal(expect(await client.get(`${at('', echoPort)}/pods`), 207).peer, 'api-server');
});

test('an upgrade is not implemented', async () => {
  const { hostname, port } = new URL(client.backend.url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  const path = `${await proxyOf(echoPort)}/exec/a/b/c`;
  const auth = `Authorization: Bearer ${client.backend.token}`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${auth}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  assert.match(String(answer), /^HTTP\/1\.1 501 .*"reason":"NotImplemented"/s);
});

test('with RBAC each method needs its verb on nodes/proxy', async () => {
  const users = [{ token: 'reader', user: 'reader', uid: '1', groups: [] }];
  const backend = await embeddedBackend({ kubelets: trusted, authorizationMode: 'RBAC', users });
  const admin = new Client(backend);
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const rules = [{ apiGroups: [''], resources: ['nodes/proxy'], verbs: ['get'] }];
  await admin.make(`${rbac}/clusterroles`, { metadata: { name: 'proxy' }, rules });
  await admin.make(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'proxy' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'proxy' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'reader' }],
  });
  const path = await proxyOf(echoPort, admin);
  const headers = { authorization: 'Bearer reader' };
  expect(await admin.get(`${path}/pods`, { headers }), 207);
  for (const [method, verb] of [
    ['POST', 'create'],
    ['PUT', 'update'],
    ['PATCH', 'patch'],
    ['DELETE', 'delete'],
  ] as const) {
    const { message } = expect(await admin.send(method, `${path}/run`, { headers }), 403);
    assert.match(message, new RegExp(`User "reader" cannot ${verb} resource "nodes/proxy" in API group ""`));
  }
  expect(await admin.get(path.replace('/proxy', ''), { headers }), 403);
  await admin.close();
});

test('requests to slow kubelets have their own limit', async () => {
  const open: ServerResponse[] = [];
  const port = await startKubelet((_incoming, outgoing) => void open.push(outgoing));
  const path = await proxyOf(port);
  const session = openSession(client.backend);
  const authorization = `Bearer ${client.backend.token}`;
  const pending = Array.from({ length: 400 }, () => answerOf(session.request({ ':path': `${path}/`, authorization })));
  await until(() => open.length === 400);
  assert.equal((await client.get(`${path}/`)).code, 429);
  expect(await client.get('/api/v1/nodes'), 200);
  for (const outgoing of open) outgoing.end('done');
  for (const { text } of await Promise.all(pending)) assert.equal(text, 'done');
  session.close();
});
