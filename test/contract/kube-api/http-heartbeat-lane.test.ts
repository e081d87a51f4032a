import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ApiError } from '../../../src/api/api-error.ts';
import type { Lease } from '../../../src/api/lease.ts';
import { plainConnection } from '../../../src/adapters/http-connection.ts';
import { HttpHeartbeatLane } from '../../../src/adapters/http-heartbeat-lane.ts';
import { HttpKubeApi } from '../../../src/adapters/http-kube-api.ts';
import { SystemClock } from '../../../src/adapters/system-clock.ts';
import { KeepingLogger, KeepingMeter } from '../../support/quiet.ts';
import { RawHttpServer } from '../../support/raw-http-server.ts';
import { until } from '../../support/until.ts';

const held: Lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'n 1', namespace: 'kube-node-lease', resourceVersion: '7' },
  spec: { holderIdentity: 'n 1', renewTime: '2026-01-01T00:00:00.000000Z' },
};
const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n%201?fieldManager=kubelet';

describe('the lane for lease renewals', () => {
  let server: RawHttpServer;
  let api: HttpKubeApi;
  let lane: HttpHeartbeatLane;
  let meter: KeepingMeter;
  let life: AbortController;

  beforeEach(async () => {
    server = new RawHttpServer();
    await server.start();
    meter = new KeepingMeter();
    life = new AbortController();
    const means = {
      connection: plainConnection(server.url, { token: 'secret' }),
      clock: new SystemClock(),
      meter,
      logger: new KeepingLogger(),
      userAgent: 'test',
      fieldManager: 'kubelet',
      requestTimeoutMs: 500,
    };
    api = new HttpKubeApi({ ...means, qps: 0, burst: 0, retriesMax: 0 });
    lane = new HttpHeartbeatLane({ ...means, api });
  });

  afterEach(async () => {
    await Promise.all([lane.close(), api.close()]);
    await server.stop();
  });

  const renew = (): Promise<Lease> => lane.replace('leases', held, { signal: life.signal });
  const reasonOf = async (promise: Promise<unknown>): Promise<string> => {
    try {
      await promise;
      return 'none';
    } catch (error) {
      return error instanceof ApiError ? error.reason : String(error);
    }
  };

  it('writes the lease as the usual road does, and answers what came back', async () => {
    server.handler = (request) =>
      request.answer(200, { ...held, metadata: { ...held.metadata, resourceVersion: '8' } });
    assert.equal((await renew()).metadata.resourceVersion, '8');
    await api.replace('leases', held, { signal: life.signal });
    const [ours, usual] = server.requests;
    assert.equal(ours?.path, path);
    assert.equal(ours?.method, 'PUT');
    assert.deepEqual(JSON.parse(ours?.body ?? ''), JSON.parse(usual?.body ?? ''));
    for (const name of ['authorization', 'content-type', 'accept', 'user-agent']) {
      assert.equal(ours?.headers[name], usual?.headers[name], name);
    }
    assert.equal(
      meter.series.get(`rest_client_requests_total{code="200",method="PUT",host="127.0.0.1:${server.port}"}`),
      2,
    );
  });

  it('does not take what a text says for the version of the lease', async () => {
    const annotations = { note: JSON.stringify({ resourceVersion: '5' }) };
    server.handler = (request) =>
      request.answer(200, { ...held, metadata: { annotations, ...held.metadata, resourceVersion: '8' } });
    assert.equal((await renew()).metadata.resourceVersion, '8');
  });

  it('uses its sockets again', async () => {
    server.handler = (request) => request.answer(200, held);
    for (let count = 0; count < 10; count += 1) await renew();
    // A socket is free a moment after its answer: whoever is as quick as this test finds it taken.
    assert.ok(server.connections <= 2, `${server.connections} connections`);
  });

  it('tells a refusal in the words of the API', async () => {
    server.handler = (request) => request.answer(409, { kind: 'Status', reason: 'Conflict', message: 'stale' });
    await assert.rejects(
      renew(),
      (error) => error instanceof ApiError && error.reason === 'conflict' && error.code === 409,
    );
    server.handler = (request) => request.answer(500, 'no');
    assert.equal(await reasonOf(renew()), 'internal');
    server.handler = (request) => request.answer(200, 'no lease');
    assert.equal(await reasonOf(renew()), 'internal');
  });

  it('goes the usual road with credentials that were refused', async () => {
    server.handler = (request) => request.answer(401, { kind: 'Status', reason: 'Unauthorized' });
    assert.equal(await reasonOf(renew()), 'unauthorized');
    assert.equal(server.requests.length, 2);
  });

  it('gives up at its deadline, the wait for a socket included', async () => {
    server.handler = () => undefined;
    const startMs = performance.now();
    const waiting = Array.from({ length: 40 }, () => reasonOf(renew()));
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['timeout']));
    assert.ok(performance.now() - startMs < 5_000);
  });

  it('never sends what was given up while it waited for a socket', async () => {
    server.handler = () => undefined;
    const holding = Array.from({ length: 32 }, () => reasonOf(renew()));
    const hurried = new AbortController();
    const waiting = Array.from({ length: 8 }, () => reasonOf(lane.replace('leases', held, { signal: hurried.signal })));
    await until(() => server.requests.length === 32);
    hurried.abort();
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['aborted']));
    assert.deepEqual(new Set(await Promise.all(holding)), new Set(['timeout']));
    server.handler = (request) => request.answer(200, held);
    await renew();
    assert.equal(server.requests.length, 33);
  });

  it('leaves when it is told to, and sends nothing where it was told before', async () => {
    server.handler = () => life.abort();
    assert.equal(await reasonOf(renew()), 'aborted');
    assert.equal(await reasonOf(renew()), 'aborted');
    assert.equal(server.requests.length, 1);
  });

  it('does not know what became of a write whose connection broke, and knows where there was none', async () => {
    server.handler = ({ socket }) => socket.destroy();
    assert.equal(await reasonOf(renew()), 'timeout');
    await server.stop();
    assert.equal(await reasonOf(renew()), 'unavailable');
    await server.start();
  });

  it('leaves everything else to the usual road', async () => {
    server.handler = (request) => request.answer(200, { metadata: { name: 'n' } });
    const { signal } = life;
    await lane.get('nodes', { name: 'n' }, { signal });
    await lane.patch('nodes', { name: 'n' }, { type: 'merge', body: {} }, { signal, subresource: 'status' });
    await lane.replace('nodes', { metadata: { name: 'n' } }, { signal });
    await lane.create('leases', held, { signal });
    await lane.delete('pods', { namespace: 'd', name: 'p' }, { uid: 'u', signal });
    assert.deepEqual(
      server.requests.map(({ method }) => method),
      ['GET', 'PATCH', 'PUT', 'POST', 'DELETE'],
    );
  });
});
