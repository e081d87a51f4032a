/** Two informers of each kind on one API server, one with protobuf and one with JSON: their stores must be equal. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { HttpKubeApi } from '../../src/machinery/kube-client/kube-api.ts';
import { loadConnection } from '../../src/machinery/kubeconfig/connection.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { jsonType, protobufType, type WireType } from '../../src/machinery/wire/wire-format.ts';
import { ApiError } from '../../src/machinery/api/api-error.ts';
import { transformLease } from '../../src/machinery/api/lease.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { transformNode } from '../../src/machinery/api/node.ts';
import { transformPod } from '../../src/machinery/api/pod.ts';
import { SharedInformer } from '../../src/machinery/informer/shared-informer.ts';
import { waitForCacheSync } from '../../src/machinery/informer/wait-for-cache-sync.ts';
import type { KubeReader } from '../../src/machinery/ports/kube-reader.ts';
import { goldenObjects, leasesPath, nodesPath, podsPath } from '../control-plane/golden-objects.ts';
import type { RestClient } from '../control-plane/rest-client.ts';
import { RecordingLogger, RecordingMeter, SeededRandom } from './fakes.ts';
import { until } from './until.ts';

/** The API server of the informers. */
interface InformedServer {
  readonly kubeconfigFile: string;
  readonly client: RestClient;
  /** Ends every watch, and forgets the changes of the past. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const clock = new SystemClock();

interface View {
  readonly uid: string;
  readonly resourceVersion: string;
}

const kinds = {
  nodes: { path: nodesPath, view: transformNode },
  pods: { path: podsPath, view: transformPod },
  leases: { path: leasesPath, view: transformLease },
} as const;
type Kind = keyof typeof kinds;

/** A server without support for sendInitialEvents. */
class PagingOnly implements KubeReader {
  readonly get: KubeReader['get'];
  readonly list: KubeReader['list'];
  readonly watch: KubeReader['watch'];

  constructor(api: KubeReader) {
    this.get = (...request) => api.get(...request);
    this.list = (...request) => api.list(...request);
    this.watch = (resource, options) =>
      options.sendInitialEvents === true
        ? Promise.reject(new ApiError({ reason: 'invalid', message: 'sendInitialEvents is not supported' }))
        : api.watch(resource, options);
  }
}

/** Starts the server once for all tests. */
export function testInformerPairs(start: () => Promise<InformedServer>, skip: string | false = false): void {
  describe('informers with protobuf and JSON', { skip }, () => {
    let server: InformedServer;
    let stop = new AbortController();
    const apis: HttpKubeApi[] = [];
    let running: Promise<void>[] = [];

    const anApi = async (contentType: WireType): Promise<HttpKubeApi> => {
      const api = new HttpKubeApi({
        connection: await loadConnection({ kubeconfig: server.kubeconfigFile }),
        clock,
        logger: new RecordingLogger(),
        meter: new RecordingMeter(),
        userAgent: 'nlc/test',
        fieldManager: 'nlc',
        qps: 0,
        burst: 0,
        contentType,
      });
      apis.push(api);
      return api;
    };

    function informerOf(kind: Kind, api: KubeReader): SharedInformer<KubeObject, View> {
      const informer = new SharedInformer<KubeObject, View>({
        resource: kind,
        transform: kinds[kind].view,
        identity: (view) => view,
        api,
        clock,
        random: new SeededRandom(1),
        logger: new RecordingLogger(),
        meter: new RecordingMeter(),
      });
      running.push(informer.run(stop.signal));
      return informer;
    }

    const contents = (informer: SharedInformer<KubeObject, View>): Readonly<Record<string, View>> =>
      Object.fromEntries([...informer.store.keys()].sort().map((key) => [key, informer.store.get(key)!]));

    /** Informers of each kind with each content type, all in sync. */
    async function pairs(
      wrap: (api: KubeReader) => KubeReader,
    ): Promise<readonly SharedInformer<KubeObject, View>[][]> {
      stop = new AbortController();
      const protobuf = wrap(await anApi(protobufType));
      const json = wrap(await anApi(jsonType));
      const made = (Object.keys(kinds) as Kind[]).map((kind) => [informerOf(kind, protobuf), informerOf(kind, json)]);
      assert.deepEqual(await waitForCacheSync(made.flat(), { clock, signal: stop.signal, timeoutMs: 30_000 }), []);
      return made;
    }

    const versionsOf = (informer: SharedInformer<KubeObject, View>): string =>
      JSON.stringify(Object.entries(contents(informer)).map(([key, { resourceVersion }]) => [key, resourceVersion]));

    async function assertEqual(made: readonly SharedInformer<KubeObject, View>[][]): Promise<void> {
      for (const [protobuf, json] of made) {
        await until(() => versionsOf(protobuf!) === versionsOf(json!), 60_000);
        assert.deepStrictEqual(contents(protobuf!), contents(json!), protobuf!.name);
        assert.ok(protobuf!.store.size >= 2, protobuf!.name);
      }
    }

    before(async () => {
      server = await start();
      const { client } = server;
      for (const { path, body, status } of goldenObjects.filter(({ body }) => body.metadata.name !== 'gone')) {
        await client.must('POST', path, body);
        const patch = { contentType: 'application/strategic-merge-patch+json' };
        if (status !== undefined) await client.must('PATCH', `${path}/${body.metadata.name}/status`, { status }, patch);
      }
    });
    afterEach(async () => {
      stop.abort();
      await Promise.all(running);
      running = [];
    });
    after(async () => {
      await Promise.all(apis.map((api) => api.close()));
      await server?.stop();
    });

    test('streaming list: stores are equal, also after changes, deletions and a restart of the server', async () => {
      const made = await pairs((api) => api);
      await assertEqual(made);
      const { client } = server;
      const merge = { contentType: 'application/merge-patch+json' };
      await client.must('PATCH', `${nodesPath}/bare`, { spec: { unschedulable: true } }, merge);
      await client.must('PATCH', `${leasesPath}/bare`, { spec: { renewTime: '2026-11-21T06:42:20.000001Z' } }, merge);
      await client.must('PATCH', `${podsPath}/bare`, { metadata: { labels: { changed: 'yes' } } }, merge);
      await client.must('DELETE', `${leasesPath}/whole`);
      await until(() => made[2]!.every(({ store }) => store.get(key('whole')) === undefined), 60_000);
      await until(() => made[2]!.every(({ store }) => renewed(store.get(key('bare')))), 60_000);
      await assertEqual(made);
      await server.restart();
      await client.must('PATCH', `${nodesPath}/rich`, { spec: { unschedulable: null, taints: null } }, merge);
      const free = (view: View | undefined): boolean => (view as { unschedulable?: boolean }).unschedulable === false;
      await until(() => made[0]!.every(({ store }) => free(store.get('rich'))), 60_000);
      await assertEqual(made);
    });

    test('paginated list: stores are equal', async () => {
      await assertEqual(await pairs((api) => new PagingOnly(api)));
    });

    test('one list, decoded object by object: objects are equal', async () => {
      const [protobuf, json] = [await anApi(protobufType), await anApi(jsonType)];
      for (const kind of Object.keys(kinds) as Kind[]) {
        const taken = [protobuf, json].map(async (api) => {
          const views: View[] = [];
          const each = (object: KubeObject): unknown => views.push(kinds[kind].view(object));
          const page = await api.list(kind, { signal: new AbortController().signal, each });
          assert.deepEqual(page.items, []);
          return views;
        });
        assert.deepStrictEqual(await taken[0], await taken[1]);
      }
    });

    test('a missing object is reported with both content types', async () => {
      for (const type of [protobufType, jsonType] as const) {
        const api = await anApi(type);
        const read = api.get('nodes', { name: 'missing' }, { signal: new AbortController().signal });
        await assert.rejects(read, (error: ApiError) => {
          assert.deepEqual([error.reason, error.code, error.status?.details?.name], ['not-found', 404, 'missing']);
          return true;
        });
      }
    });
  });
}

const key = (name: string): string => `kube-node-lease/${name}`;
const renewed = (view: View | undefined): boolean =>
  (view as { renewTime?: string } | undefined)?.renewTime === '2026-11-21T06:42:20.000001Z';
