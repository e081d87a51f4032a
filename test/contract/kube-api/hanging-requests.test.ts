// Requests that the API server does not answer: they delay no request of another kind, and no wait is unbounded.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { PQueueLanes } from '../../../src/machinery/adapters/p-queue-lanes.ts';
import type { Connection } from '../../../src/machinery/kube-client/connection.ts';
import { undeciding } from '../../../src/machinery/kube-client/read-pace.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { SystemRandom } from '../../../src/machinery/adapters/system-random.ts';
import { makeReadingApis, type ReadingApis } from '../../../src/cli/controller/apis.ts';
import { parseControllerConfig } from '../../../src/cli/controller/config.ts';
import { type WriteLane, writeLanes } from '../../../src/machinery/ports/write-lanes.ts';
import { RecordingLogger, RecordingMeter } from '../../support/fakes.ts';
import { plainConnection } from '../../support/plain-connection.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RawHttpServer } from '../../support/raw-http-server.ts';
import { until } from '../../support/until.ts';

const { signal } = new AbortController();

describe('pod writes that the API server does not answer', () => {
  let server: RawHttpServer;
  let apis: ReadingApis;
  let lanes: PQueueLanes;

  beforeEach(async () => {
    server = new RawHttpServer();
    server.handler = (request) => {
      if (request.path.includes('/nodes/')) request.answer(200, { metadata: { name: 'n1' } });
    };
    await server.start();
    const outcome = parseControllerConfig(['--kube-api-qps=1000', '--kube-api-burst=1000'], () => '');
    assert.ok('config' in outcome);
    const { config } = outcome;
    lanes = new PQueueLanes({ concurrencyMax: config.concurrentWrites });
    apis = makeReadingApis(
      {
        config,
        connection: plainConnection(server.url),
        clock: new SystemClock(),
        random: new SystemRandom(),
        logger: new RecordingLogger(),
        meter: new RecordingMeter(),
      },
      { mayWrite: () => true, receiver: undeciding },
    );
  });
  afterEach(async () => {
    await Promise.all(Object.values(apis).map((api) => api.close()));
    await server.stop();
  });

  test('writes and reads of nodes are sent at once, however many of the others hang', async () => {
    const { main } = apis;
    const pods = (lane: WriteLane): void => {
      for (let i = 0; i < 20; i += 1) {
        const pod = { namespace: 'default', name: `${lane}-${i}` };
        const hanging = lanes.run(lane, () => main.patch('pods', pod, { type: 'merge', body: {} }, { signal, lane }));
        hanging.catch(() => undefined);
      }
    };
    const others = writeLanes.filter((lane) => lane !== 'recovery');
    for (const lane of others) pods(lane);
    await until(() => server.requests.length >= others.length * lanes.concurrencyMax);
    const startedAtMs = performance.now();
    const recovered = lanes.run('recovery', () =>
      main.patch('nodes', { name: 'n1' }, { type: 'merge', body: {} }, { signal, lane: 'recovery' }),
    );
    const read = main.get('nodes', { name: 'n1' }, { signal });
    await Promise.all([recovered, read]);
    assert.ok(performance.now() - startedAtMs < 2_000, `${performance.now() - startedAtMs} ms`);
  });
});

test('a reload of certificates that does not end leaves the old ones in use', async () => {
  const server = new RawHttpServer();
  await server.start();
  server.handler = (request) =>
    request.answer(server.requests.length === 1 ? 401 : 200, { metadata: { name: 'n1' }, status: {} });
  const never = (): Promise<never> => new Promise(() => undefined);
  const connection: Connection = { ...plainConnection(server.url), reloadTls: never };
  const logger = new RecordingLogger();
  const api = makeKubeApi(connection, { logger });
  const get = (): Promise<unknown> => api.get('nodes', { name: 'n1' }, { signal });
  await assert.rejects(get(), /401/);
  const startedAtMs = performance.now();
  for (let i = 0; i < 10; i += 1) await get();
  assert.ok(performance.now() - startedAtMs < 5_000, 'only the first request waits');
  await api.close();
  await server.stop();
});
