// Behaviour of the HTTP client beside the requests themselves: user agent, logging, metrics, connections.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import tls from 'node:tls';
import { plainConnection } from '../../support/plain-connection.ts';
import type { HttpKubeApi, HttpKubeApiOptions } from '../../../src/machinery/kube-client/kube-api.ts';
import * as http from '../../../src/machinery/kube-client/metrics.ts';
import { PromMeter } from '../../../src/machinery/adapters/prom-meter.ts';
import { makeServingCertificate } from '../../../src/machinery/page-server/serving-certificate.ts';
import { userAgent } from '../../../src/cli/io/version.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RecordingLogger, RecordingMeter } from '../../support/fakes.ts';
import { type RawRequest, RawHttpServer } from '../../support/raw-http-server.ts';
import { until } from '../../support/until.ts';

/** The kernel's code of a running keepalive timer in its socket table. */
const keepaliveTimer = '02';
const hasSocketTable = existsSync('/proc/net/tcp');

describe('on the wire', () => {
  let server: RawHttpServer;
  let api: HttpKubeApi;
  let logger: RecordingLogger;
  let meter: RecordingMeter;
  const give = new AbortController();
  const { signal } = give;

  function anApi(options: Partial<HttpKubeApiOptions> = {}): HttpKubeApi {
    logger = new RecordingLogger();
    meter = new RecordingMeter();
    return makeKubeApi(plainConnection(server.url), { logger, meter, userAgent: userAgent('controller'), ...options });
  }

  before(() => {
    server = new RawHttpServer();
    return server.start();
  });
  after(() => server.stop());
  beforeEach(() => {
    server.requests.length = 0;
    server.handler = (request) => {
      if (request.url.searchParams.get('watch') === 'true') request.open();
      else request.answer(200, { metadata: { name: 'n1' } });
    };
    api = anApi();
  });
  afterEach(() => api.close());

  const get = (): Promise<unknown> => api.get('nodes', { name: 'n1' }, { signal });
  const list = (): Promise<unknown> => api.list('nodes', { signal });
  const last = (): RawRequest => server.requests.at(-1) ?? assert.fail('no request arrived');
  const host = (): string => new URL(server.url).host;

  test('the User-Agent has program, version, system, runtime and component', async () => {
    await get();
    assert.match(
      last().headers['user-agent'] ?? '',
      /^node-lifecycle-controller\/\d+\.\d+\.\d+ \([a-z0-9]+\/[a-z0-9]+\) node\/\d+\.\d+\.\d+ controller$/,
    );
  });

  test('no compression is requested', async () => {
    await get();
    assert.equal(last().headers['accept-encoding'], undefined);
  });

  test('a warning of the API server is logged once', async () => {
    server.handler = (request) => request.answer(200, { metadata: {} }, { warning: '299 - "nodes are deprecated"' });
    await get();
    await get();
    await until(() => logger.lines.length > 0);
    const seen = logger.lines.map(({ level, fields }) => [level, fields['warning']]);
    assert.deepEqual(seen, [['warn', 'nodes are deprecated']]);
  });

  test('a long wait for the rate limit is logged, but not each time', async () => {
    await api.close();
    api = anApi({ qps: 1.5, burst: 1 });
    await Promise.all([get(), get(), get(), get()]);
    const waits = logger.lines.filter(({ message }) => message === 'request delayed by client-side rate limiting');
    assert.equal(waits.length, 1);
  });

  test('a retry waits for the rate limit again', async () => {
    await api.close();
    api = anApi({ qps: 2, burst: 1 });
    server.handler = (request) => {
      if (server.requests.length < 3) request.answer(429, 'later', { 'retry-after': '0' });
      else request.answer(200, { metadata: {}, items: [] });
    };
    await list();
    const [first, , third] = server.requests.map(({ atMs }) => atMs);
    assert.ok((third ?? 0) - (first ?? 0) > 700, 'two more at two a second');
  });

  test('connections and sizes are counted', async () => {
    await get();
    await api.watch('nodes', { signal });
    await api.watch('nodes', { signal });
    const opened = (role: string): number | undefined =>
      meter.series.get(`rest_client_connections_opened_total{role="${role}",host="${host()}"}`);
    assert.deepEqual([opened('unary'), opened('watches')], [1, 2]);
    await api.patch('nodes', { name: 'n1' }, { type: 'merge', body: { a: 1 } }, { signal });
    const size = (what: string, verb: string): number | undefined =>
      meter.series.get(`rest_client_${what}_size_bytes{verb="${verb}",host="${host()}"}`);
    assert.equal(size('request', 'PATCH'), '{"a":1}'.length);
    assert.equal(size('response', 'PATCH'), '{"metadata":{"name":"n1"}}'.length);
    assert.equal(size('request', 'GET'), 0);
  });

  test('every metric is used with its declared labels', async () => {
    await api.close();
    const real = new PromMeter();
    real.declare(Object.values(http));
    api = anApi({ meter: real });
    let turn = 0;
    server.handler = (request) => {
      turn += 1;
      if (turn === 1) request.answer(503, 'later', { 'retry-after': '0' });
      else request.answer(200, { metadata: {}, items: [] });
    };
    await list();
    const text = await real.text();
    for (const { name } of Object.values(http)) assert.match(text, new RegExp(`^${name}\\S*\\{.*host=`, 'm'), name);
  });

  test('a vanished peer is detected within 15 s: the first probe after 4 s, ten more a second apart', {
    skip: hasSocketTable ? false : 'the socket table is read from /proc',
  }, async () => {
    await api.watch('nodes', { signal });
    const timer = (): ReturnType<typeof timerOf> => timerOf(last().socket.remotePort ?? 0);
    await until(() => timer().timer === keepaliveTimer); // what was sent has been acknowledged
    const { inMs } = timer();
    assert.ok(inMs <= 4_000, `the next probe comes in ${inMs} ms`);
  });

  test('no TLS version below 1.2, even if the runtime allows it', async () => {
    const { certPem, keyPem, caPem } = await makeServingCertificate();
    const [minVersion, ciphers] = [tls.DEFAULT_MIN_VERSION, tls.DEFAULT_CIPHERS];
    const outdated = new RawHttpServer({
      cert: certPem,
      key: keyPem,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    outdated.handler = (request) => request.answer(200, { metadata: {} });
    await outdated.start();
    try {
      tls.DEFAULT_MIN_VERSION = 'TLSv1';
      tls.DEFAULT_CIPHERS = 'DEFAULT@SECLEVEL=0';
      await api.close();
      api = anApi({ connection: plainConnection(outdated.url, { tls: { ca: caPem } }), retriesMax: 0 });
      await assert.rejects(get(), { reason: 'unavailable' });
    } finally {
      tls.DEFAULT_MIN_VERSION = minVersion;
      tls.DEFAULT_CIPHERS = ciphers;
      await outdated.stop();
    }
  });
});

/** The timer of the client's end of a connection in the kernel's socket table, and when it expires. */
const established = '01';

function timerOf(localPort: number): { readonly timer: string; readonly inMs: number } {
  const port = localPort.toString(16).toUpperCase().padStart(4, '0');
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  // Ports are reused, and the previous connection may still be closing.
  const isClientSocket = ([, local = '', , state]: readonly string[]): boolean =>
    local.endsWith(`:${port}`) && state === established;
  const row = rows.find(isClientSocket) ?? assert.fail('no such socket');
  const [timer = '', hundredths = ''] = (row[5] ?? '').split(':');
  return { timer, inMs: Number.parseInt(hundredths, 16) * 10 };
}
