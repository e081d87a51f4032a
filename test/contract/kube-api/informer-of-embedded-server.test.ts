import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { loadConnection } from '../../../src/machinery/kubeconfig/connection.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { type Node, type NodeView, transformNode } from '../../../src/machinery/api/node.ts';
import { type RunningApiServer, startApiServer } from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import type { Change } from '../../../src/machinery/informer/informer.ts';
import { SharedInformer } from '../../../src/machinery/informer/shared-informer.ts';
import { waitForCacheSync } from '../../../src/machinery/informer/wait-for-cache-sync.ts';
import type { KubeReader } from '../../../src/machinery/ports/kube-reader.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RecordingLogger, RecordingMeter, SeededRandom } from '../../support/fakes.ts';
import { until } from '../../support/until.ts';

const clock = new SystemClock();
const { signal } = new AbortController();

/** Reads from the API, unless the connection is cut. */
class CuttableReader implements KubeReader {
  readonly #api: KubeReader;
  cutOff = false;

  constructor(api: KubeReader) {
    this.#api = api;
  }

  get: KubeReader['get'] = (...request) => this.#reach(() => this.#api.get(...request));
  list: KubeReader['list'] = (...request) => this.#reach(() => this.#api.list(...request));
  watch: KubeReader['watch'] = (...request) => this.#reach(() => this.#api.watch(...request));

  async #reach<T>(request: () => Promise<T>): Promise<T> {
    if (this.cutOff) throw new ApiError({ reason: 'unavailable', message: 'cut off' });
    return request();
  }
}

describe('an informer of the embedded API server, by kubeconfig and TLS', () => {
  let folder: string;
  let server: RunningApiServer;
  let api: HttpKubeApi;
  let reader: CuttableReader;
  let meter: RecordingMeter;
  let informer: SharedInformer<Node, NodeView>;
  let changes: Change<NodeView>[];
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nlc-informer-'));
    const logger = new RecordingLogger();
    server = await startApiServer({ clock, random: new SeededRandom(1), logger, bookmarkPeriodMs: 200 });
    const kubeconfig = join(folder, 'config');
    writeFileSync(kubeconfig, server.kubeconfig());
    meter = new RecordingMeter();
    api = makeKubeApi(await loadConnection({ kubeconfig }), { clock, logger, meter });
    for (const name of ['n1', 'n2', 'n3']) await api.create('nodes', { metadata: { name } }, { signal });
    reader = new CuttableReader(api);
    informer = new SharedInformer({
      resource: 'nodes',
      transform: transformNode,
      identity: (view: NodeView) => view,
      api: reader,
      clock,
      random: { next: () => 0 },
      logger,
      meter,
      quietMsMax: 2_000,
    });
    changes = [];
    stop = new AbortController();
    running = informer.run(stop.signal);
    assert.deepEqual(await waitForCacheSync([informer], { clock, signal, timeoutMs: 5_000 }), []);
    informer.onChange('test', (change) => changes.push(change));
    changes.length = 0;
  });

  afterEach(async () => {
    stop.abort();
    await running;
    await api.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const label = (name: string, value: string): Promise<unknown> =>
    api.patch('nodes', { name }, { type: 'merge', body: { metadata: { labels: { v: value } } } }, { signal });
  /** A write whose connection was cut may be retried here: there is no other writer. */
  const again = (write: () => Promise<unknown>): Promise<unknown> => write().catch(write);
  const remove = (name: string): Promise<void> =>
    api.delete('nodes', { name }, { uid: informer.store.get(name)?.uid ?? '', signal });
  const notifications = (): readonly string[] => changes.map(({ kind, key }) => `${kind} ${key}`);
  const lists = (): number => meter.series.get('reflector_lists_total{resource="nodes"}') ?? 0;

  async function assertSettled(): Promise<void> {
    const { items } = await api.list('nodes', { signal });
    const real = items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
    const stored = (): readonly string[] =>
      [...informer.store.values()].map(({ name, resourceVersion }) => `${name}@${resourceVersion}`).sort();
    await until(() => stored().join() === real.join());
  }

  test('a complete state by one stream, then changes', async () => {
    assert.equal(lists(), 1);
    await label('n1', 'x');
    await api.create('nodes', { metadata: { name: 'n4' } }, { signal });
    await remove('n2');
    await until(() => changes.length === 3);
    assert.deepEqual(notifications(), ['modified n1', 'added n4', 'deleted n2']);
    await assertSettled();
  });

  test('connections cut repeatedly: no duplicate notification and no relist', async () => {
    for (let cuts = 0; cuts < 3; cuts += 1) {
      server.dropConnections();
      await again(() => label('n1', `cut-${cuts}`));
      await until(() => informer.store.get('n1')?.labels['v'] === `cut-${cuts}`);
    }
    assert.deepEqual(notifications(), ['modified n1', 'modified n1', 'modified n1']);
    assert.equal(lists(), 1);
    await assertSettled();
  });

  test("changes beyond the server's watch window are delivered once, from one complete state", async () => {
    reader.cutOff = true;
    server.dropConnections();
    await until(() => informer.status().state === 'backing-off');
    const uid = informer.store.get('n3')?.uid;
    await again(() => remove('n2'));
    await remove('n3');
    await api.create('nodes', { metadata: { name: 'n3' } }, { signal });
    server.shrinkWatchWindow('nodes');
    server.compactNow();
    assert.deepEqual(notifications(), []);
    reader.cutOff = false;
    await until(() => changes.length >= 3);
    assert.deepEqual(notifications(), ['deleted n2', 'deleted n3', 'added n3']);
    assert.equal(changes[1]?.object.uid, uid);
    assert.notEqual(changes[2]?.object.uid, uid);
    assert.equal(lists(), 2);
    assert.equal(meter.series.get('reflector_relists_total{resource="nodes",cause="expired"}'), 1);
    await assertSettled();
  });

  test('a watch window that shrank while the informer was disconnected', async () => {
    await label('n1', 'before');
    await until(() => informer.store.get('n1')?.labels['v'] === 'before');
    server.shrinkWatchWindow('nodes');
    server.compactNow();
    server.dropConnections();
    await again(() => label('n1', 'after'));
    await assertSettled();
    assert.deepEqual(new Set(notifications()), new Set(['modified n1']));
  });

  test('bookmarks alone keep an idle watch open', async () => {
    const watches = meter.series.get('reflector_watches_total{resource="nodes"}');
    await new Promise((resolve) => setTimeout(resolve, 2_600));
    assert.equal(meter.series.get('reflector_watches_total{resource="nodes"}'), watches);
    const { lastFrameAtMs = 0 } = informer.status();
    assert.ok(clock.monotonicMs() - lastFrameAtMs < 1_000);
  });

  test('a delete with another uid is rejected', async () => {
    const error: unknown = await api
      .delete('nodes', { name: 'n1' }, { uid: 'another-uid', signal })
      .catch((reason: unknown) => reason);
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.reason, error.status?.reason], ['conflict', 'Conflict']);
  });
});
