import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { test } from 'node:test';
import {
  type Route,
  startHttp,
  startObservability,
  textAnswer,
} from '../../../src/machinery/page-server/observability-server.ts';
import { isOwnHost } from '../../../src/machinery/page-server/own-host.ts';
import { PromMeter } from '../../../src/machinery/adapters/prom-meter.ts';
import { healthRoutes } from '../../../src/cli/pages/health-pages.ts';
import { configzRoute, metricsRoute } from '../../../src/cli/pages/metrics-pages.ts';
import { announceBuild } from '../../../src/cli/controller/metrics.ts';
import { RecordingLogger } from '../../support/fakes.ts';

const freePort = { host: '127.0.0.1', port: 0 };

function urlOf({ host, port }: { readonly host: string; readonly port: number }, path: string): string {
  return `http://${host}:${port}${path}`;
}

async function serving(
  routes: readonly Route[],
  use: (at: (path: string) => string, logger: RecordingLogger) => Promise<void>,
) {
  const logger = new RecordingLogger();
  const server = await startHttp({ address: freePort, routes, logger });
  try {
    await use((path) => urlOf(server.address, path), logger);
  } finally {
    await server.close();
  }
}

test('process and controller metrics in the Prometheus text format', async () => {
  const meter = new PromMeter({ processMetrics: true });
  announceBuild(meter, { version: '1.2.3', nodeVersion: process.version });
  await serving([metricsRoute(meter)], async (at) => {
    const response = await fetch(at('/metrics'));
    const text = await response.text();
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(text, /^process_cpu_seconds_total \d/m);
    assert.match(text, /^process_resident_memory_bytes \d/m);
    assert.match(text, /^node_lifecycle_controller_build_info\{version="1\.2\.3",/m);
  });
});

test('the active configuration', async () => {
  await serving(
    [configzRoute('node-lifecycle-controller', () => ({ controller: { nodeEvictionRate: 0.1 } }))],
    async (at) => {
      const response = await fetch(at('/configz'));
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.deepEqual(await response.json(), {
        'node-lifecycle-controller': { controller: { nodeEvictionRate: 0.1 } },
      });
    },
  );
});

test('probes follow the state of the process', async () => {
  let synced = false;
  const ready = [{ name: 'informer-sync', problem: () => (synced ? undefined : 'not yet') }];
  await serving(healthRoutes({ live: [], ready }), async (at) => {
    assert.equal((await fetch(at('/livez'))).status, 200);
    const before = await fetch(at('/readyz'));
    assert.equal(before.status, 503);
    assert.match(await before.text(), /^\[-\]informer-sync failed: not yet$/m);
    assert.equal((await fetch(at('/readyz/informer-sync'))).status, 503);
    synced = true;
    assert.equal(await (await fetch(at('/readyz'))).text(), 'ok');
    assert.match(await (await fetch(at('/readyz?verbose'))).text(), /^\[\+\]informer-sync ok$/m);
  });
});

const pages: readonly Route[] = [
  { path: '/page', answer: () => textAnswer(200, 'page\n') },
  { path: '/tree/', answer: (url) => textAnswer(200, `tree ${url.pathname}`) },
  { path: '/tree/deep/', answer: () => textAnswer(200, 'deep') },
  {
    path: '/broken',
    answer: () => {
      throw new Error('secret detail');
    },
  },
];

test('only GET and HEAD; unknown paths are 404; the longest path wins', async () => {
  await serving(pages, async (at) => {
    assert.equal((await fetch(at('/page'))).status, 200);
    const head = await fetch(at('/page'), { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '5', '']);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const refused = await fetch(at('/page'), { method, body: 'x'.repeat(100_000) });
      assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD'], method);
    }
    assert.equal((await fetch(at('/page/'))).status, 404);
    assert.equal((await fetch(at('/'))).status, 404);
    assert.equal(await (await fetch(at('/tree/node/a%2Fb'))).text(), 'tree /tree/node/a%2Fb');
    assert.equal(await (await fetch(at('/tree/deep/x'))).text(), 'deep');
  });
});

test('a failing page responds with 500 without details, and the details are logged', async () => {
  await serving(pages, async (at, logger) => {
    const response = await fetch(at('/broken'));
    assert.equal(response.status, 500);
    assert.doesNotMatch(await response.text(), /secret/);
    const line = logger.lines.find((candidate) => candidate.level === 'error');
    assert.ok(line?.fields['err'] instanceof Error);
    assert.equal((await fetch(at('/page'))).status, 200);
  });
});

test('close ends idle keep-alive connections, and connections without a request', async () => {
  const server = await startHttp({ address: freePort, routes: pages, logger: new RecordingLogger() });
  await (await fetch(urlOf(server.address, '/page'))).text();
  const idleSocket = connect(server.address.port, server.address.host);
  await new Promise((resolve) => idleSocket.once('connect', resolve));
  const gone = new Promise((resolve) => idleSocket.once('close', resolve));
  await server.close();
  await gone;
  await assert.rejects(fetch(urlOf(server.address, '/page')));
});

test('an address in use is an error at the start', async () => {
  const first = await startHttp({ address: freePort, routes: [], logger: new RecordingLogger() });
  try {
    await assert.rejects(startHttp({ address: first.address, routes: [], logger: new RecordingLogger() }), {
      code: 'EADDRINUSE',
    });
  } finally {
    await first.close();
  }
});

const metricsPages: readonly Route[] = [{ path: '/metrics', answer: () => textAnswer(200, 'm') }];
const healthPages: readonly Route[] = [{ path: '/livez', answer: () => textAnswer(200, 'h') }];

function start(metrics: Parameters<typeof startObservability>[0]['metrics']['address'], health: typeof metrics) {
  return startObservability({
    metrics: { address: metrics, routes: metricsPages },
    health: { address: health, routes: healthPages },
    allowedHosts: [],
    logger: new RecordingLogger(),
  });
}

test('two addresses: each listener has its own pages', async () => {
  const taken = await startHttp({ address: freePort, routes: [], logger: new RecordingLogger() });
  await taken.close();
  const servers = await start(taken.address, freePort);
  assert.ok(servers.metricsAddress && servers.healthAddress);
  assert.notEqual(servers.metricsAddress.port, servers.healthAddress.port);
  assert.equal((await fetch(urlOf(servers.metricsAddress, '/metrics'))).status, 200);
  assert.equal((await fetch(urlOf(servers.metricsAddress, '/livez'))).status, 404);
  assert.equal((await fetch(urlOf(servers.healthAddress, '/livez'))).status, 200);
  assert.equal((await fetch(urlOf(servers.healthAddress, '/metrics'))).status, 404);
  await servers.close();
});

test('one address: one listener with all pages', async () => {
  const servers = await start(freePort, freePort);
  assert.ok(servers.metricsAddress);
  assert.deepEqual(servers.metricsAddress, servers.healthAddress);
  assert.equal((await fetch(urlOf(servers.metricsAddress, '/metrics'))).status, 200);
  assert.equal((await fetch(urlOf(servers.metricsAddress, '/livez'))).status, 200);
  await servers.close();
});

test('disabled: nothing listens', async () => {
  const servers = await start('off', 'off');
  assert.deepEqual([servers.metricsAddress, servers.healthAddress], [undefined, undefined]);
  await servers.close();
});

test('if the second address is in use, the first is closed', async () => {
  const other = await startHttp({ address: freePort, routes: [], logger: new RecordingLogger() });
  const freed = await startHttp({ address: freePort, routes: [], logger: new RecordingLogger() });
  await freed.close();
  await assert.rejects(start(freed.address, other.address), { code: 'EADDRINUSE' });
  await assert.rejects(fetch(urlOf(freed.address, '/metrics')));
  await other.close();
});

function statusFor(
  host: string,
  server: { readonly host: string; readonly port: number },
  address = '127.0.0.1',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: address, port: server.port, path: '/livez', agent: false, setHost: false };
    const sent = request({ ...options, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject).end();
  });
}

const livez: Route = { path: '/livez', answer: () => textAnswer(200, 'ok') };

test('on loopback, a request for another host name is rejected: DNS rebinding in a browser', async () => {
  const server = await startHttp({ address: freePort, routes: [livez], logger: new RecordingLogger() });
  try {
    for (const host of ['localhost', `LOCALHOST:${server.address.port}`, '127.0.0.1:1', '[::1]:8080'])
      assert.equal(await statusFor(host, server.address), 200, host);
    for (const host of ['attacker.example', 'localhost.attacker.example:8080', '127.0.0.1.attacker.example', ''])
      assert.equal(await statusFor(host, server.address), 421, host);
  } finally {
    await server.close();
  }
});

test('on every interface: localhost, the own name, the address that was connected to and allowed names; others get 421', async () => {
  const everywhere = { host: '', port: 0 };
  const allowedHosts = ['nlc-metrics.kube-system.svc'];
  const server = await startHttp({ address: everywhere, routes: [livez], allowedHosts, logger: new RecordingLogger() });
  const { port } = server.address;
  try {
    // A port-forward, the probes of a kubelet and scrapes by the address of the pod, and the name of its Service.
    const own = ['localhost:8080', `127.0.0.2:${port}`, hostname().toUpperCase(), 'NLC-metrics.kube-system.svc:8080'];
    for (const host of own) assert.equal(await statusFor(host, server.address, '127.0.0.2'), 200, host);
    const others = ['attacker.example', `attacker.example:${port}`, '192.0.2.1:8080', 'other.kube-system.svc', '@', ''];
    for (const host of others) assert.equal(await statusFor(host, server.address, '127.0.0.2'), 421, host);
  } finally {
    await server.close();
  }
});

test('the address of a pod, of either family, is its own name where a connection came to it', () => {
  const own = (header: string, localAddress: string): boolean => isOwnHost(header, { localAddress, names: [] });
  assert.ok(own('10.1.2.3:8080', '::ffff:10.1.2.3'));
  assert.ok(own('[FD00:0:0::7]:8080', 'fd00::7'));
  assert.ok(!own('10.1.2.4:8080', '10.1.2.3'));
  assert.ok(!own('fd00::7.attacker.example', 'fd00::7'));
});
