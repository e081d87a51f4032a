/** What only the embedded server promises: its own start and end, both protocols, tokens, limits, expiry. */
import assert from 'node:assert/strict';
import { connect as connectHttp2 } from 'node:http2';
import { createConnection, type Socket } from 'node:net';
import { test } from 'node:test';
import { Agent, request } from 'undici';
import { parse as parseYaml } from 'yaml';
import { SystemClock } from '../../../src/adapters/system-clock.ts';
import {
  type ApiServerOptions,
  type RunningApiServer,
  startApiServer,
} from '../../../src/apiserver/http/api-server.ts';
import { KeepingLogger, SeededRandom } from '../../support/quiet.ts';

type Extra = Partial<ApiServerOptions>;

async function withServer(extra: Extra, use: (server: RunningApiServer, agent: Agent) => Promise<void>): Promise<void> {
  const logger = new KeepingLogger();
  const server = await startApiServer({ clock: new SystemClock(), random: new SeededRandom(1), logger, ...extra });
  const agent = new Agent({ connect: server.caPem === undefined ? {} : { ca: server.caPem }, allowH2: false });
  try {
    await use(server, agent);
  } finally {
    await agent.destroy();
    await server.close();
  }
  assert.deepEqual(
    logger.lines.filter(({ level }) => level === 'error'),
    [],
  );
}

const bearer = (server: RunningApiServer): Record<string, string> => ({ authorization: `Bearer ${server.adminToken}` });

async function post(server: RunningApiServer, agent: Agent, path: string, body: unknown): Promise<number> {
  const answer = await request(server.url + path, {
    method: 'POST',
    dispatcher: agent,
    headers: { ...bearer(server), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.body.dump();
  return answer.statusCode;
}

async function get(
  server: RunningApiServer,
  agent: Agent,
  path: string,
  headers = bearer(server),
): Promise<{ code: number; body: unknown }> {
  const answer = await request(server.url + path, { dispatcher: agent, headers });
  const text = await answer.body.text();
  return { code: answer.statusCode, body: text.startsWith('{') ? JSON.parse(text) : text };
}

test('plain HTTP works without certificates', async () => {
  await withServer({ tls: false }, async (server, agent) => {
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(server.caPem, undefined);
    assert.equal((await get(server, agent, '/api/v1/nodes')).code, 200);
  });
});

test('tokens name users, and without one only health and version are told', async () => {
  const tokens = [{ token: 'secret', user: 'kubelet', uid: 'u', groups: ['system:nodes'] }];
  await withServer({ tokens }, async (server, agent) => {
    assert.equal(server.adminToken, 'secret');
    assert.equal((await get(server, agent, '/api/v1/nodes', {})).code, 401);
    assert.equal((await get(server, agent, '/version', {})).code, 200);
    const answer = await request(`${server.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      method: 'POST',
      dispatcher: agent,
      headers: { ...bearer(server), 'content-type': 'application/json' },
      body: '{}',
    });
    const review = (await answer.body.json()) as { status: { userInfo: { username: string; groups: string[] } } };
    assert.equal(review.status.userInfo.username, 'kubelet');
    assert.deepEqual(review.status.userInfo.groups, ['system:nodes', 'system:authenticated']);
  });
});

test('the kubeconfig says where and who', async () => {
  await withServer({}, async (server) => {
    const config = parseYaml(server.kubeconfig());
    assert.equal(config.clusters[0].cluster.server, server.url);
    const authority = Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64').toString();
    assert.equal(authority, server.caPem);
    assert.equal(config.users[0].user.token, server.adminToken);
  });
});

test('HTTP/2 clients are served on the same port, watches included', async () => {
  await withServer({}, async (server, agent) => {
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
    await post(server, agent, '/api/v1/nodes', { metadata: { name: 'n1' } });
    while (lines.length === 0) await new Promise(setImmediate);
    assert.match(lines.join(''), /"type":"ADDED".*"name":"n1"/);
    server.dropConnections();
    await ended;
    session.destroy();
  });
});

test('closing ends watches cleanly and leaves nobody behind', async () => {
  const server = await startApiServer({
    clock: new SystemClock(),
    random: new SeededRandom(1),
    logger: new KeepingLogger(),
  });
  const agent = new Agent({ connect: { ca: server.caPem ?? '' }, allowH2: false });
  const watch = await request(`${server.url}/api/v1/nodes?watch=true`, { dispatcher: agent, headers: bearer(server) });
  const text = watch.body.text();
  await server.close();
  assert.equal(await text, '');
  await assert.rejects(request(`${server.url}/version`, { dispatcher: agent }));
  await agent.destroy();
});

test('events expire, and watchers are told', async () => {
  await withServer({ eventTtlMs: 50 }, async (server, agent) => {
    const event = { involvedObject: { kind: 'Node', name: 'n' }, reason: 'R', message: 'm', type: 'Normal' };
    const watch = await request(`${server.url}/api/v1/events?watch=true&timeoutSeconds=4`, {
      dispatcher: agent,
      headers: bearer(server),
    });
    await post(server, agent, '/api/v1/namespaces/default/events', { metadata: { name: 'e' }, ...event });
    let seen = '';
    for await (const chunk of watch.body) {
      seen += String(chunk);
      if (seen.includes('DELETED')) break;
    }
    assert.match(seen, /"ADDED"[^]*"DELETED"/);
  });
});

test('bookmarks come as often as asked', async () => {
  await withServer({ bookmarkPeriodMs: 50 }, async (server, agent) => {
    const path = '/api/v1/nodes?watch=true&allowWatchBookmarks=true';
    const watch = await request(server.url + path, { dispatcher: agent, headers: bearer(server) });
    let seen = '';
    for await (const chunk of watch.body) {
      seen += String(chunk);
      if (seen.split('BOOKMARK').length > 3) break;
    }
    assert.match(seen, /"kind":"Node","apiVersion":"v1","metadata":\{"resourceVersion":"\d+"\}/);
  });
});

test('a fixed watch window forgets the oldest changes', async () => {
  await withServer({ watchWindow: 3 }, async (server, agent) => {
    const before = server.revision();
    for (let made = 0; made < 5; made += 1)
      await post(server, agent, '/api/v1/nodes', { metadata: { name: `n${made}` } });
    const path = `/api/v1/nodes?watch=true&timeoutSeconds=1&resourceVersion=${before}`;
    const { body } = await get(server, agent, path);
    assert.match(JSON.stringify(body), /"type":"ERROR".*too old resource version/);
  });
});

/** Opens a watch by hand and never reads from it. */
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

async function openWatches(server: RunningApiServer, agent: Agent): Promise<number> {
  const { body } = await get(server, agent, '/metrics');
  return Number(/apiserver_longrunning_requests\{verb="WATCH"\} (\d+)/.exec(String(body))?.[1]);
}

test('T118 a watcher who does not read is given up, and others hear everything', async () => {
  await withServer({ tls: false }, async (server, agent) => {
    const stalled = await stalledWatch(server);
    while ((await openWatches(server, agent)) === 0) await new Promise(setImmediate);
    const reading = await request(`${server.url}/api/v1/nodes?watch=true`, {
      dispatcher: agent,
      headers: bearer(server),
      highWaterMark: 1 << 20,
    });
    let heard = '';
    const listening = (async () => {
      for await (const chunk of reading.body) {
        // Only names are kept: the objects are large.
        heard += (String(chunk).match(/"name":"n\d+"|"last"/g) ?? []).join('');
        if (heard.endsWith('"last"')) return heard;
      }
      return heard;
    })();
    const big = 'x'.repeat(200_000);
    let made = 0;
    while ((await openWatches(server, agent)) === 2) {
      assert.ok(made < 500, 'the stalled watch was never given up');
      await post(server, agent, '/api/v1/nodes', { metadata: { name: `n${made}`, annotations: { big } } });
      made += 1;
    }
    await post(server, agent, '/api/v1/nodes', { metadata: { name: 'last', annotations: { seen: 'last' } } });
    const names = (await listening).match(/n\d+/g);
    assert.equal(new Set(names).size, made);
    stalled.destroy();
  });
});

test('what is not implemented is refused by name', async () => {
  await withServer({ tls: false }, async (server, agent) => {
    const exec = await post(server, agent, '/api/v1/namespaces/default/pods/p/exec', {});
    assert.equal(exec, 501);
    assert.equal((await get(server, agent, '/api/v1/secrets')).code, 404);
  });
});
