// The routes of the dashboard over real sockets.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { startHttp } from '../../../src/machinery/page-server/observability-server.ts';
import { dashboardRoutes } from '../../../src/cli/dashboard/dashboard-routes.ts';
import { clientsMax } from '../../../src/cli/dashboard/event-streams.ts';
import { DashboardWorld } from '../../support/dashboard-world.ts';
import { DashboardMirror } from '../../support/dashboard-mirror.ts';
import { RecordingLogger, RecordingMeter } from '../../support/fakes.ts';
import { until } from '../../support/until.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const page = '<!doctype html><title>placeholder</title>';
const files: Readonly<Record<string, { readonly contentType: string; readonly body: string }>> = {
  '': { contentType: 'text/html; charset=utf-8', body: page },
  'main.js': { contentType: 'text/javascript; charset=utf-8', body: 'export {};' },
};

async function serving(t: TestContext) {
  const world = aZonedWorld({ a: 3 });
  const board = new DashboardWorld(await world.running(5));
  const meter = new RecordingMeter();
  const logger = new RecordingLogger();
  const routes = dashboardRoutes({
    source: board.keeper.board,
    asset: (path) => Promise.resolve(files[path]),
    clock: world.clock,
    logger,
    meter,
  });
  const server = await startHttp({ address: { host: '127.0.0.1', port: 0 }, routes, logger });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await server.close();
    await board.stop();
    await world.stop();
  };
  t.after(close);
  const clients = (): number => meter.series.get('node_lifecycle_dashboard_clients') ?? -1;
  return { world, close, clients, port: server.address.port, url: `http://127.0.0.1:${server.address.port}` };
}

interface Reader {
  readonly mirror: DashboardMirror;
  readonly headers: Headers;
  readonly status: number;
  /** Resolves when the stream has ended. */
  readonly ended: Promise<void>;
  readonly disconnect: () => void;
}

async function read(url: string): Promise<Reader> {
  const leaving = new AbortController();
  const response = await fetch(`${url}/dashboard/events`, { signal: leaving.signal });
  const mirror = new DashboardMirror();
  const readAll = async (): Promise<void> => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) mirror.feed(decoder.decode(chunk, { stream: true }));
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    }
  };
  const ended = readAll();
  return { mirror, headers: response.headers, status: response.status, ended, disconnect: () => leaving.abort() };
}

test('the page and its files have a strict policy, and what is missing is 404 with the same policy', async (t) => {
  const { url } = await serving(t);
  const rows: readonly (readonly [string, number, string])[] = [
    ['/dashboard', 200, page],
    ['/dashboard/assets/main.js', 200, 'export {};'],
    ['/dashboard/assets/missing.js', 404, 'not found\n'],
    ['/dashboard/assets/../../etc/passwd', 404, ''],
    ['/dashboard/assets/%2e%2e%2fpackage.json', 404, 'not found\n'],
    ['/dashboard/missing', 404, 'not found\n'],
  ];
  for (const [path, status, body] of rows) {
    const answer = await fetch(`${url}${path}`);
    assert.equal(answer.status, status, path);
    const text = await answer.text();
    if (body !== '') assert.equal(text, body);
    if (!answer.url.includes('/dashboard')) continue;
    const policy = answer.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'/, path);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(answer.headers.get('set-cookie'), null);
  }
  const slash = await fetch(`${url}/dashboard/`, { redirect: 'manual' });
  assert.deepEqual([slash.status, slash.headers.get('location')], [302, '../dashboard']);
});

test('other methods than GET and HEAD are refused, and HEAD of the events opens no stream', async (t) => {
  const { url, clients } = await serving(t);
  for (const path of ['/dashboard', '/dashboard/events', '/dashboard/actions']) {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(answer.status, 405, path);
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  }
  const head = await fetch(`${url}/dashboard/events`, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream; charset=utf-8']);
  assert.equal(clients(), 0);
});

test('a client gets a snapshot and deltas; when it disconnects, nothing of it is left', async (t) => {
  const { url, world, clients } = await serving(t);
  const { mirror, headers, disconnect, ended } = await read(url);
  assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.match(headers.get('cache-control') ?? '', /no-cache/);
  await world.advance(2);
  await until(() => mirror.snapshots === 1);
  assert.equal(mirror.nodes.size, 3);
  world.post('a-0', 'False');
  await world.advance(2);
  await until(() => mirror.nodes.get('a-0')?.state !== 'ready');
  disconnect();
  await ended;
  await until(() => clients() === 0);
});

test('names of nodes, zones and pods are only data, whatever they contain', async (t) => {
  const { url, world } = await serving(t);
  const hostile = `<script>alert(1)</script>\r\n\r\nevent: snapshot\u2028\u202e"'`;
  world.putNode({
    metadata: { name: hostile, uid: 'u', resourceVersion: '', labels: { 'topology.kubernetes.io/zone': hostile } },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  } as Parameters<typeof world.putNode>[0]);
  const { mirror } = await read(url);
  await world.advance(2);
  await until(() => mirror.snapshots === 1);
  assert.equal(mirror.nodes.get(hostile)?.zone, `/${hostile}`);
});

test('the twenty-first client gets 503 and may come again', async (t) => {
  const { url, clients } = await serving(t);
  const readers = await Promise.all(Array.from({ length: clientsMax }, () => read(url)));
  await until(() => clients() === clientsMax);
  const refused = await fetch(`${url}/dashboard/events`);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '10']);
  assert.match(await refused.text(), /20 clients read the events of the dashboard, which is the maximum/);
  readers[0]?.disconnect();
  await until(() => clients() === clientsMax - 1);
  assert.equal((await read(url)).status, 200);
});

test('a client that reads nothing does not stop others, and is disconnected', async (t) => {
  const { port, url, world, clients } = await serving(t);
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => undefined);
  socket.write('GET /dashboard/events HTTP/1.1\r\nhost: localhost\r\n\r\n');
  socket.pause();
  await until(() => clients() === 1);
  const { mirror } = await read(url);
  await world.advance(2);
  await until(() => mirror.snapshots === 1);
  socket.destroy();
  await until(() => clients() === 1);
});

test('streams end when the server closes, at once', async (t) => {
  const { url, world, close } = await serving(t);
  const { mirror, ended } = await read(url);
  await world.advance(2);
  await until(() => mirror.snapshots === 1);
  const sinceMs = performance.now();
  await Promise.all([close(), ended]);
  assert.ok(performance.now() - sinceMs < 3_000);
});

test('a connection that was used for a page can open a stream', async (t) => {
  const { port, world } = await serving(t);
  const received: string[] = [];
  const socket = connect({ host: '127.0.0.1', port });
  socket.setEncoding('utf8').on('data', (text: string) => received.push(text));
  socket.write('GET /dashboard HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await until(() => received.join('').includes(page));
  socket.write('GET /dashboard/events HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await until(() => received.join('').includes('retry: 2000'));
  await world.advance(2);
  await until(() => received.join('').includes('event: snapshot'));
  socket.destroy();
});
