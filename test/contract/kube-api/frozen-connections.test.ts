// Connections that are dead without notice: the peer's kernel acknowledges, and no response comes; new connections work.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Connection } from '../../../src/machinery/kube-client/connection.ts';
import { plainConnection } from '../../support/plain-connection.ts';
import type { HttpKubeApi, HttpKubeApiOptions } from '../../../src/machinery/kube-client/kube-api.ts';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import { FreezingProxy } from '../../support/freezing-proxy.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type RawRequest, RawHttpServer } from '../../support/raw-http-server.ts';
import { until } from '../../support/until.ts';

const { signal } = new AbortController();
const idleConnections = 8;
const timeoutMs = 500;

describe('frozen connections', () => {
  const server = new RawHttpServer();
  let proxy: FreezingProxy;
  let connection: Connection;
  let api: HttpKubeApi;
  let held: RawRequest[];

  before(() => server.start());
  after(() => server.stop());
  beforeEach(async () => {
    proxy = await FreezingProxy.start(server.url);
    connection = plainConnection(proxy.url.replace('https:', 'http:'));
    api = makeKubeApi(connection, { requestTimeoutMs: timeoutMs });
    answerAtOnce();
  });
  afterEach(async () => {
    await api.close();
    await proxy.stop();
  });

  const get = (of: HttpKubeApi = api): Promise<KubeObject> => of.get('nodes', { name: 'n1' }, { signal });
  const patch = (of: HttpKubeApi = api): Promise<KubeObject> =>
    of.patch('nodes', { name: 'n1' }, { type: 'merge', body: {} }, { signal });

  function answerAtOnce(): void {
    server.handler = (request) => {
      if (request.url.searchParams.get('watch') === 'true') request.open();
      else request.answer(200, { metadata: { name: 'n1' } });
    };
  }

  /** Leaves {@link idleConnections} connections idle. */
  async function warm(of: HttpKubeApi = api): Promise<void> {
    held = [];
    server.handler = (request) => held.push(request);
    const calls = Array.from({ length: idleConnections }, () => get(of));
    await until(() => held.length === idleConnections);
    for (const request of held) request.answer(200, { metadata: { name: 'n1' } });
    await Promise.all(calls);
    answerAtOnce();
    // A connection becomes idle shortly after its response: until then a request opens another one.
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  async function reasonOf(call: Promise<unknown>): Promise<string> {
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof ApiError ? error.reason : String(error);
  }

  async function assertQuick(call: Promise<unknown>): Promise<void> {
    const sinceMs = performance.now();
    await call;
    const tookMs = performance.now() - sinceMs;
    assert.ok(tookMs < timeoutMs, `it took ${tookMs} ms`);
  }

  test('cost one timeout in total: the next request uses a new connection', async () => {
    await warm();
    proxy.freeze();
    assert.equal(await reasonOf(get()), 'timeout');
    for (let requests = 0; requests < idleConnections; requests += 1) await assertQuick(get());
  });

  test('are closed after an unanswered write too', async () => {
    await warm();
    const before = new Set(server.sockets);
    proxy.freeze();
    assert.equal(await reasonOf(patch()), 'timeout');
    await assertQuick(patch());
    proxy.thaw();
    await until(() => [...before].every((socket) => !server.sockets.has(socket)));
  });

  test('are closed by every client of the same connection object', async () => {
    const other = makeKubeApi(connection, { requestTimeoutMs: 10 * timeoutMs });
    await warm();
    await warm(other);
    proxy.freeze();
    assert.equal(await reasonOf(get()), 'timeout');
    await assertQuick(get(other));
    await other.close();
  });

  test('are closed when the caller times out before the client, as a probe does', async () => {
    const patient = makeKubeApi(connection, { requestTimeoutMs: 60_000 });
    await warm(patient);
    proxy.freeze();
    const impatience = AbortSignal.timeout(700);
    const call = patient.get('nodes', { name: 'n1' }, { signal: impatience });
    assert.equal(await reasonOf(call), 'aborted');
    await assertQuick(get(patient));
    await patient.close();
  });

  test('a healthy watch and a request in flight continue', async () => {
    const watched: string[] = [];
    const end = new AbortController();
    const stream = await api.watch('nodes', { signal: end.signal });
    const reading = (async () => {
      for await (const batch of stream) for (const { object } of batch) watched.push(JSON.stringify(object));
    })();
    const watch = server.requests.at(-1) ?? assert.fail('no watch arrived');
    const slowApi = makeKubeApi(connection, { requestTimeoutMs: 10_000 });
    held = [];
    server.handler = (request) => held.push(request);
    const slow = slowApi.get('nodes', { name: 'slow' }, { signal });
    await until(() => held.length === 1);
    assert.equal(await reasonOf(get()), 'timeout');
    held[0]?.answer(200, { metadata: { name: 'slow' } });
    assert.equal((await slow).metadata.name, 'slow');
    watch.chunk(`${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'n2' } } })}\n`);
    await until(() => watched.length === 1);
    end.abort();
    await assert.rejects(reading, { reason: 'aborted' });
    await slowApi.close();
  });

  test('are closed after a suspend, before a request is lost on them', async () => {
    const clock = new ManualClock();
    const resumed: HttpKubeApi = makeKubeApi(connection, {
      clock,
      requestTimeoutMs: timeoutMs,
    } satisfies Partial<HttpKubeApiOptions>);
    await warm(resumed);
    proxy.freeze();
    clock.jumpWall(600_000);
    await assertQuick(get(resumed));
    await resumed.close();
  });
});
