import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import type { Lease } from '../../../src/machinery/api/lease.ts';
import { ConnectionError } from '../../../src/machinery/kubeconfig/connection-error.ts';
import type { Connection } from '../../../src/machinery/kube-client/connection.ts';
import { plainConnection } from '../../support/plain-connection.ts';
import {
  LeaseRenewalClient,
  type LeaseRenewalClientOptions,
} from '../../../src/machinery/kube-client/lease-renewal-client.ts';
import { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { RecordingLogger, RecordingMeter } from '../../support/fakes.ts';
import { type RawRequest, RawHttpServer } from '../../support/raw-http-server.ts';
import { until } from '../../support/until.ts';

const held: Lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'n 1', namespace: 'kube-node-lease', resourceVersion: '7' },
  spec: { holderIdentity: 'n 1', renewTime: '2026-01-01T00:00:00.000000Z' },
};
const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n%201?fieldManager=kubelet';

describe('the lease renewal client', () => {
  let server: RawHttpServer;
  let api: HttpKubeApi;
  let lane: LeaseRenewalClient;
  let meter: RecordingMeter;
  let life: AbortController;
  let dependencies: LeaseRenewalClientOptions;

  beforeEach(async () => {
    server = new RawHttpServer();
    await server.start();
    meter = new RecordingMeter();
    life = new AbortController();
    dependencies = {
      connection: plainConnection(server.url, { token: 'secret' }),
      clock: new SystemClock(),
      meter,
      logger: new RecordingLogger(),
      userAgent: 'test',
      fieldManager: 'kubelet',
      requestTimeoutMs: 500,
    };
    api = new HttpKubeApi({ ...dependencies, qps: 0, burst: 0, retriesMax: 0 });
    lane = new LeaseRenewalClient(dependencies);
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

  it('writes the lease as the regular client does, and returns the new resourceVersion', async () => {
    server.handler = (request) =>
      request.answer(200, { ...held, metadata: { ...held.metadata, resourceVersion: '8' } });
    assert.equal((await renew()).metadata.resourceVersion, '8');
    await api.replace('leases', held, { signal: life.signal });
    const [renewal, usual] = server.requests;
    assert.equal(renewal?.path, path);
    assert.equal(renewal?.method, 'PUT');
    assert.deepEqual(JSON.parse(renewal?.body ?? ''), JSON.parse(usual?.body ?? ''));
    for (const name of ['authorization', 'content-type', 'accept', 'user-agent']) {
      assert.equal(renewal?.headers[name], usual?.headers[name], name);
    }
    assert.equal(
      meter.series.get(`rest_client_requests_total{code="200",method="PUT",host="127.0.0.1:${server.port}"}`),
      2,
    );
  });

  it('does not read the resourceVersion from a string value', async () => {
    const annotations = { note: JSON.stringify({ resourceVersion: '5' }) };
    server.handler = (request) =>
      request.answer(200, { ...held, metadata: { annotations, ...held.metadata, resourceVersion: '8' } });
    assert.equal((await renew()).metadata.resourceVersion, '8');
  });

  it('reuses its sockets', async () => {
    server.handler = (request) => request.answer(200, held);
    for (let count = 0; count < 10; count += 1) await renew();
    // A socket becomes idle shortly after its response: an immediate request would open another one.
    assert.ok(server.connections <= 2, `${server.connections} connections`);
  });

  it("rejects with the API server's Status", async () => {
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

  it('does not retry with rejected credentials; the next renewal reloads them', async () => {
    const refused: unknown[] = [];
    let token = 'old';
    const connection: Connection = {
      ...plainConnection(server.url),
      authorization: () => Promise.resolve({ authorization: `Bearer ${token}` }),
      refused: (headers) => {
        refused.push(headers['authorization']);
        token = 'new';
        return true;
      },
    };
    const rotating = new LeaseRenewalClient({ ...dependencies, connection });
    server.handler = (request) => {
      if (request.headers['authorization'] === 'Bearer new') request.answer(200, held);
      else request.answer(401, { kind: 'Status', reason: 'Unauthorized' });
    };
    const replace = (): Promise<unknown> => rotating.replace('leases', held, { signal: life.signal });
    assert.equal(await reasonOf(replace()), 'unauthorized');
    assert.equal(server.requests.length, 1);
    assert.deepEqual(refused, ['Bearer old']);
    assert.equal(await reasonOf(replace()), 'none');
    await rotating.close();
  });

  it('rejects with an ApiError if credentials cannot be obtained, and sends nothing', async () => {
    const place = { file: 'kubeconfig', field: 'users.u.exec' };
    const failing: Connection = {
      ...plainConnection(server.url),
      authorization: () => Promise.reject(new ConnectionError(place, 'the plugin failed')),
    };
    const without = new LeaseRenewalClient({ ...dependencies, connection: failing });
    assert.equal(await reasonOf(without.replace('leases', held, { signal: life.signal })), 'unavailable');
    assert.equal(server.requests.length, 0);
    await without.close();
  });

  it('does not wait for credentials longer than for a response, nor after the signal aborts', async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    const hanging: Connection = { ...plainConnection(server.url), authorization: never };
    const without = new LeaseRenewalClient({ ...dependencies, connection: hanging });
    const slow = without.replace('leases', held, { signal: life.signal });
    assert.equal(await reasonOf(slow), 'unavailable');
    const stopped = without.replace('leases', held, { signal: life.signal });
    life.abort();
    assert.equal(await reasonOf(stopped), 'aborted');
    assert.equal(server.requests.length, 0);
    await without.close();
  });

  it('rejects with an ApiError when it is closed', async () => {
    await lane.close();
    assert.equal(await reasonOf(renew()), 'timeout');
  });

  it('closes idle connections after one timeout', async () => {
    const waiting: RawRequest[] = [];
    server.handler = (request) => waiting.push(request);
    const warm = Array.from({ length: 4 }, renew);
    await until(() => waiting.length === 4);
    for (const request of waiting) request.answer(200, held);
    await Promise.all(warm);
    const dead = server.connections;
    server.handler = (request) => {
      if (request.connection > dead) request.answer(200, held);
    };
    // A connection becomes idle shortly after its response: until then a renewal opens another one.
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(await reasonOf(renew()), 'timeout');
    for (let count = 0; count < 4; count += 1) assert.equal(await reasonOf(renew()), 'none');
  });

  it('times out, the wait for a socket included', async () => {
    server.handler = () => undefined;
    const startMs = performance.now();
    const waiting = Array.from({ length: 40 }, () => reasonOf(renew()));
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['timeout']));
    assert.ok(performance.now() - startMs < 5_000);
  });

  it('never sends a request that was aborted while it waited for a socket', async () => {
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

  it('ends when the signal aborts, and sends nothing if it has aborted before', async () => {
    server.handler = () => life.abort();
    assert.equal(await reasonOf(renew()), 'aborted');
    assert.equal(await reasonOf(renew()), 'aborted');
    assert.equal(server.requests.length, 1);
  });

  it('a write whose connection broke has an unknown outcome, one without a connection was not sent', async () => {
    server.handler = ({ socket }) => socket.destroy();
    assert.equal(await reasonOf(renew()), 'timeout');
    await server.stop();
    assert.equal(await reasonOf(renew()), 'unavailable');
    await server.start();
  });

  it('uses the regular client for all other calls', async () => {
    server.handler = (request) => request.answer(200, { metadata: { name: 'n' } });
    const { signal } = life;
    await lane.get('nodes', { name: 'n' }, { signal });
    await lane.patch('nodes', { name: 'n' }, { type: 'merge', body: {} }, { signal, subresource: 'status' });
    await lane.replace('nodes', { metadata: { name: 'n' } }, { signal });
    await lane.create('leases', held, { signal });
    await lane.delete('pods', { namespace: 'd', name: 'p' }, { uid: 'u', signal });
    const methods = server.requests.map(({ method }) => method);
    assert.deepEqual(methods, ['GET', 'PATCH', 'PUT', 'POST', 'DELETE']);
  });
});
