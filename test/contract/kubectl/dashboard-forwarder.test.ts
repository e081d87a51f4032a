// `kubectl node-lifecycle dashboard`: who is served on loopback, and what happens when another replica leads.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { FakeCluster } from '../../support/fake-cluster.ts';
import { DashboardForwarder } from '../../../src/cli/kubectl/dashboard-forwarder.ts';
import { LeaderPages } from '../../../src/cli/kubectl/leader-pages.ts';
import { clusterFlags } from '../../../src/cli/kubectl/flags.ts';
import { readFlags } from '../../../src/cli/flags/flag-schema.ts';
import { until } from '../../support/until.ts';

/** A replica with a dashboard and an event stream. */
class Replica {
  leading = false;
  readonly streams = new Set<ServerResponse>();
  readonly seen: (string | undefined)[] = [];
  readonly server: Server;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
    this.server = createServer((incoming, response) => {
      this.seen.push(incoming.headers.cookie, incoming.headers['x-secret']?.toString());
      if (incoming.url?.startsWith('/status')) return void response.end(JSON.stringify({ leading: this.leading }));
      if (incoming.url === '/dashboard/events') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${name}\n\n`);
        this.streams.add(response);
        return void response.on('close', () => this.streams.delete(response));
      }
      const headers = {
        'content-type': 'text/html',
        'content-security-policy': "default-src 'none'",
        'set-cookie': 'a=b',
      };
      response.writeHead(200, headers).end(`${incoming.method} ${incoming.url} of ${name}`);
    });
  }

  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as { port: number }).port;
  }
}

let cluster: FakeCluster;
const replicas = [new Replica('c-1'), new Replica('c-2')] as const;
const stop = new AbortController();
const said: string[] = [];
let url = '';
let running: Promise<void>;
let leader: LeaderPages;

before(async () => {
  cluster = await FakeCluster.start();
  for (const replica of replicas)
    cluster.pods.push({ namespace: 'node-lifecycle-controller', name: replica.name, port: await replica.listen() });
  cluster.holder = 'c-1_uuid';
  replicas[0].leading = true;
  const read = readFlags([`--kubeconfig=${cluster.kubeconfig()}`], clusterFlags);
  assert.ok('values' in read);
  leader = await LeaderPages.open(read.values);
  const forwarder = new DashboardForwarder({ leader, say: (text) => said.push(text), checkIntervalMs: 50 });
  url = await forwarder.listen(0);
  running = forwarder.run(stop.signal);
});

after(async () => {
  stop.abort();
  await running;
  await leader.close();
  for (const { server } of replicas) {
    server.closeAllConnections();
    server.close();
  }
  await cluster[Symbol.asyncDispose]();
});

async function get(address: string, headers: Record<string, string> = {}, method: 'GET' | 'POST' | 'HEAD' = 'GET') {
  const answer = await request(address, { method, headers });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}

test('the dashboard is served below a random path, with its own headers only', async () => {
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/dashboard$/);
  const page = await get(url, { cookie: 'c=d', 'x-secret': 'x' });
  assert.deepEqual([page.status, page.body], [200, 'GET /dashboard of c-1']);
  assert.equal(page.headers['content-security-policy'], "default-src 'none'");
  assert.equal(page.headers['set-cookie'], undefined);
  assert.equal(
    (await get(url.replace('/dashboard', '/explain/nodes/n%2F1?a=b'))).body,
    'GET /explain/nodes/n%2F1?a=b of c-1',
  );
  assert.deepEqual(new Set(replicas[0].seen), new Set([undefined]), 'headers of the browser are not passed on');
});

test('a client that does not know the path, another site and another host name are refused', async () => {
  const { origin } = new URL(url);
  assert.equal((await get(`${origin}/dashboard`)).status, 404);
  assert.equal((await get(`${origin}/${'x'.repeat(32)}/dashboard`)).status, 404);
  assert.equal((await get(url, { host: 'attacker.example' })).status, 403);
  assert.equal((await get(url, { 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal((await get(url, { origin: 'http://attacker.example' })).status, 403);
  assert.equal((await get(url, { origin, 'sec-fetch-site': 'same-origin' })).status, 200);
  assert.equal((await get(url, {}, 'POST')).status, 405);
  assert.equal((await get(url, {}, 'HEAD')).status, 200);
});

test('when another replica leads, event streams end, and the next ones are those of the new leader', async () => {
  const first = await request(url.replace('/dashboard', '/dashboard/events'));
  const events = first.body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  assert.equal(String((await events.next()).value), 'data: c-1\n\n');
  replicas[0].leading = false;
  replicas[1].leading = true;
  cluster.holder = 'c-2_uuid';
  await assert.rejects(async () => {
    while ((await events.next()).done !== true);
    throw new Error('ended');
  });
  await until(() => said.length > 0);
  assert.match(
    said[0] ?? '',
    /^pod node-lifecycle-controller\/c-1 stands by; now pod node-lifecycle-controller\/c-2\n$/,
  );
  assert.equal((await get(url)).body, 'GET /dashboard of c-2');
});

test('a browser that goes away closes its event stream in the pod', async () => {
  const stream = await request(url.replace('/dashboard', '/dashboard/events'));
  await until(() => replicas[1].streams.size > 0);
  stream.body.destroy();
  await until(() => replicas[1].streams.size === 0);
});

test('while no replica responds the browser gets 502 with the reason', async () => {
  cluster.pods.length = 0;
  replicas[1].server.closeAllConnections();
  await new Promise((resolve) => replicas[1].server.close(resolve));
  await until(() => said.length > 1);
  const failed = await get(url);
  assert.equal(failed.status, 502);
});
