// Informers on a real kube-apiserver while nodes, pods and leases are created, changed and deleted continuously: across
// restarts of the server, across a compaction of etcd while their watches are frozen, and for CHURN_SECONDS (default 40).
// Afterwards every store, and the sum of the delivered events, equals the state of the server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { plainConnection } from '../support/plain-connection.ts';
import { HttpKubeApi } from '../../src/machinery/kube-client/kube-api.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { Churn, churnedResources } from '../support/churn.ts';
import { FreezingProxy } from '../support/freezing-proxy.ts';
import { RecordingMeter, SeededRandom, silentLogger } from '../support/fakes.ts';
import { clusterState, WatchedCluster } from '../support/watched-cluster.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 60_000 };
const names = 40;
const churnSeconds = Number(process.env['CHURN_SECONDS'] ?? 40);
/** Maximum growth of the heap after a collection, from the first third of the time to the last. */
const growthMax = 0.04;
const samples = 30;
/** Compilation and new connections during this time are not a leak. */
const warmUpMs = 10_000;

const clock = new SystemClock();
const stop = new AbortController();
let plane: ControlPlane;
let api: HttpKubeApi;
let writer: HttpKubeApi;
let churn: Churn;
let watched: WatchedCluster;
let proxy: FreezingProxy;
let meter: RecordingMeter;

function makeApi(url: string, requestTimeoutMs: number): HttpKubeApi {
  const tls = { ca: readFileSync(plane.caFile, 'utf8') };
  return new HttpKubeApi({
    connection: plainConnection(url, { token: plane.adminToken, tls }),
    clock,
    logger: silentLogger,
    meter,
    userAgent: 'nlc/test',
    fieldManager: 'nlc',
    qps: 0,
    burst: 0,
    requestTimeoutMs,
  });
}

before(async () => {
  plane = await startControlPlane();
  proxy = await FreezingProxy.start(plane.url);
  meter = new RecordingMeter();
  api = makeApi(proxy.url, 5_000);
  writer = makeApi(plane.url, 5_000);
  const random = new SeededRandom(1);
  churn = new Churn({ api: writer, random, names, signal: stop.signal });
  await churn.populate();
  watched = new WatchedCluster({ api, clock, random: new SeededRandom(2), logger: silentLogger, meter });
  watched.start();
  await settled();
});

after(async () => {
  stop.abort();
  await watched.stop();
  await Promise.all([api.close(), writer.close()]);
  await proxy.stop();
  await plane.stop();
});

/** Waits until every store, and the sum of the delivered events, equals the server's state after one more change. */
async function settled(): Promise<void> {
  await churn.touchAll();
  const real = await clusterState(writer, stop.signal);
  const settledNow = (): boolean => watched.differences(real).length === 0;
  await waitUntil('stores equal the server', soon, settledNow).catch((error: unknown) => {
    assert.deepEqual(watched.differences(real), [], String(error));
  });
  assert.deepEqual(watched.violations(), []);
}

/** Writes without a pause until `during` is over. Returns how many writes succeeded. */
async function churnDuring(during: () => Promise<void>): Promise<number> {
  const writesBefore = churn.writes;
  const over = new AbortController();
  const writing = (async () => {
    while (!over.signal.aborted) {
      const failuresBefore = churn.failures;
      await churn.step();
      if (churn.failures > failuresBefore) await sleep(20);
    }
  })();
  await during().finally(() => over.abort());
  await writing;
  return churn.writes - writesBefore;
}

const relists = (): readonly number[] =>
  churnedResources.map(
    (resource) => meter.series.get(`reflector_relists_total{resource="${resource}",cause="expired"}`) ?? 0,
  );

test('the API server is terminated or killed under load and restarted, three times', { timeout: 180_000 }, async () => {
  const writes = await churnDuring(async () => {
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGKILL'] as const) {
      await sleep(3_000);
      process.kill(plane.pids.apiServer ?? assert.fail('the API server is not running'), signal);
      // After SIGTERM it rejects new requests and keeps its watches open for a minute, which is too long for a test.
      await sleep(2_000);
      await plane.restartApiServer();
    }
    await sleep(2_000);
  });
  await settled();
  assert.ok(churn.failures > 0, 'some writes failed');
  assert.ok(writes > 100, `only ${writes} writes succeeded`);
});

test('etcd is compacted and the API server restarted while watches are frozen', { timeout: 180_000 }, async () => {
  const before = relists();
  proxy.freeze();
  // Restarted here so that frozen connections do not buffer the changes, and again to empty the server's watch cache.
  await plane.restartApiServer();
  await churnDuring(() => sleep(3_000));
  await compactEtcd();
  await plane.restartApiServer();
  proxy.thaw();
  await settled();
  const expired = relists().map((count, index) => count - (before[index] ?? 0));
  assert.ok(
    expired.every((count) => count > 0),
    `every informer had to list again: ${expired.join()}`,
  );
});

/** Removes all revisions except the current one. */
async function compactEtcd(): Promise<void> {
  const key = Buffer.from('/registry/').toString('base64');
  const { header } = await askEtcd<{ readonly header: { readonly revision: string } }>('range', { key });
  await askEtcd('compaction', { revision: header.revision, physical: true });
}

async function askEtcd<T>(what: string, body: unknown): Promise<T> {
  const answer = await fetch(`${plane.etcdUrl}/v3/kv/${what}`, { method: 'POST', body: JSON.stringify(body) });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as T;
}

test(`churn for ${churnSeconds} s: memory does not grow`, { timeout: (churnSeconds + 120) * 1_000 }, async () => {
  const heap: number[] = [];
  const writes = await churnDuring(async () => {
    await sleep(Math.min(warmUpMs, churnSeconds * 250));
    for (let taken = 0; taken < samples; taken += 1) {
      await sleep((churnSeconds * 1_000) / samples);
      meter.observations.clear(); // the meter of this test keeps each observed value
      heap.push(heapBytes());
    }
  });
  await settled();
  const third = samples / 3;
  const [first, last] = [mean(heap.slice(0, third)), mean(heap.slice(-third))];
  console.log(`${writes} writes; heap ${megabytes(first)} MB in the first third, ${megabytes(last)} MB in the last`);
  assert.ok(last <= first * (1 + growthMax), `the heap grew: ${heap.map(megabytes).join(' ')}`);
});

/** Heap in use after a full collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(2);
}
