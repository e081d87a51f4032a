// Objects with times that RFC 3339 cannot represent, written to a real kube-apiserver as protobuf, which accepts them:
// informers must lose only those fields.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HttpKubeApi } from '../../src/machinery/kube-client/kube-api.ts';
import { loadConnection } from '../../src/machinery/kubeconfig/connection.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { jsonType, protobufType, type WireType } from '../../src/machinery/wire/wire-format.ts';
import { type LeaseView, transformLease } from '../../src/machinery/api/lease.ts';
import { type NodeView, transformNode } from '../../src/machinery/api/node.ts';
import { planRequest } from '../../src/controller/writer/plan-request.ts';
import { SharedInformer, type SharedInformerOptions } from '../../src/machinery/informer/shared-informer.ts';
import { waitForCacheSync } from '../../src/machinery/informer/wait-for-cache-sync.ts';
import { envelope, field, message } from '../support/protobuf-writer.ts';
import { RecordingLogger, RecordingMeter, SeededRandom } from '../support/fakes.ts';
import { until } from '../support/until.ts';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { leasesPath, nodesPath } from './golden-objects.ts';

const binaries = findControlPlane();
const skip = 'missing' in binaries ? binaries.missing : false;
const clock = new SystemClock();
const protobuf = { contentType: protobufType };
const syncMs = 30_000;

function aLease(name: string, renewSeconds: bigint, resourceVersion = ''): Buffer {
  const metadata = field(1, message(field(1, name), field(3, 'kube-node-lease'), field(6, resourceVersion)));
  const spec = field(2, message(field(1, name), field(4, message(field(1, renewSeconds), field(2, 5_000)))));
  return envelope('coordination.k8s.io/v1', 'Lease', message(metadata, spec));
}

/** A node whose heartbeat and taint have times beyond the year 9999. */
function aNode(name: string, heartbeatSeconds: bigint): Buffer {
  const time = message(field(1, heartbeatSeconds));
  const taint = field(5, message(field(1, 'example.com/k'), field(3, 'NoExecute'), field(4, time)));
  const conditions = ['Ready', 'Custom'].map((type) =>
    field(4, message(field(1, type), field(2, 'True'), field(3, time), field(4, time))),
  );
  const metadata = field(1, message(field(1, name)));
  return envelope('v1', 'Node', message(metadata, field(2, message(taint)), field(3, message(...conditions))));
}

interface Watched<View extends object> {
  readonly informer: SharedInformer<never, View>;
  readonly meter: RecordingMeter;
}

describe('objects with times that RFC 3339 cannot represent', { skip }, () => {
  let plane: ControlPlane;
  const stop = new AbortController();
  const apis: HttpKubeApi[] = [];
  const running: Promise<void>[] = [];

  before(async () => {
    plane = await startControlPlane();
  });
  after(async () => {
    stop.abort();
    await Promise.all(running);
    await Promise.all(apis.map((api) => api.close()));
    await plane?.stop();
  });

  async function watched<View extends { readonly uid: string; readonly resourceVersion: string }>(
    contentType: WireType,
    own: Pick<SharedInformerOptions<never, View>, 'resource' | 'transform' | 'problemsOf'>,
  ): Promise<Watched<View>> {
    const meter = new RecordingMeter();
    const logger = new RecordingLogger();
    const connection = await loadConnection({ kubeconfig: plane.kubeconfigFile });
    const transport = { connection, clock, logger, meter, userAgent: 'nlc/test', fieldManager: 'nlc' };
    const api = new HttpKubeApi({ ...transport, qps: 0, burst: 0, contentType });
    apis.push(api);
    const random = new SeededRandom(1);
    const informer = new SharedInformer({ ...own, identity: (view: View) => view, api, clock, random, logger, meter });
    running.push(informer.run(stop.signal));
    return { informer, meter };
  }

  const leasesIn = (contentType: WireType): Promise<Watched<LeaseView>> =>
    watched(contentType, { resource: 'leases', transform: transformLease, problemsOf: ({ problems }) => problems });
  const nodesIn = (contentType: WireType): Promise<Watched<NodeView>> =>
    watched(contentType, { resource: 'nodes', transform: transformNode, problemsOf: ({ problems }) => problems });

  function assertUndisturbed<View extends object>({ informer, meter }: Watched<View>): void {
    assert.equal(informer.status().state, 'watching');
    assert.equal(meter.series.get(`reflector_watches_total{resource="${informer.name}"}`), 1, 'one watch, still open');
    const counted = `informer_malformed_objects_total{resource="${informer.name}",problem="field"}`;
    assert.ok((meter.series.get(counted) ?? 0) >= 1, counted);
  }

  for (const type of [protobufType, jsonType] as const) {
    test(`${type}: leases with a renewTime beyond the year 9999`, async () => {
      const client = plane.client();
      const name = (own: string): string => `${own}-${type === jsonType ? 'json' : 'protobuf'}`;
      const key = (own: string): string => `kube-node-lease/${name(own)}`;
      await client.must('POST', leasesPath, aLease(name('malformed'), 2n ** 60n), protobuf);
      await client.must('POST', leasesPath, { metadata: { name: name('sound') }, spec: { holderIdentity: 'sound' } });
      const leases = await leasesIn(type);
      const { store } = leases.informer;
      const actual = await waitForCacheSync([leases.informer], { clock, signal: stop.signal, timeoutMs: syncMs });
      assert.deepEqual(actual, []);
      const before = store.get(key('malformed'));
      assert.ok(before?.renewTime !== undefined && store.get(key('sound')) !== undefined);

      const renewed = aLease(name('malformed'), 2n ** 60n + 1n, before.resourceVersion);
      await client.must('PUT', `${leasesPath}/${name('malformed')}`, renewed, protobuf);
      await client.must('POST', leasesPath, aLease(name('later'), -(2n ** 60n)), protobuf);
      const renewal = { spec: { renewTime: '2026-11-21T06:42:20.000001Z' } };
      const merge = { contentType: 'application/merge-patch+json' };
      await client.must('PATCH', `${leasesPath}/${name('sound')}`, renewal, merge);
      await until(() => store.get(key('sound'))?.renewTime === renewal.spec.renewTime, syncMs);
      assert.ok(store.get(key('later')) !== undefined);
      assert.notEqual(store.get(key('malformed'))?.renewTime, before.renewTime, 'the renewal is a change');
      assertUndisturbed(leases);
    });

    test(`${type}: a node with times beyond the year 9999`, async () => {
      const client = plane.client();
      const own = type === jsonType ? 'json' : 'protobuf';
      await client.must('POST', nodesPath, aNode(`malformed-${own}`, 2n ** 60n), protobuf);
      const nodes = await nodesIn(type);
      const { store } = nodes.informer;
      assert.deepEqual(await waitForCacheSync([nodes.informer], { clock, signal: stop.signal, timeoutMs: syncMs }), []);
      await client.must('POST', nodesPath, { metadata: { name: `sound-${own}` } });
      await until(() => store.get(`sound-${own}`) !== undefined, syncMs);
      const malformed = store.get(`malformed-${own}`);
      assert.equal(malformed?.conditions[0]?.status, 'True');
      assert.equal(malformed.taints[0]?.timeAdded, undefined);
      assertUndisturbed(nodes);

      // The patch of the controller: without the unreadable times the API server would reject it with 422.
      const patch = { contentType: 'application/strategic-merge-patch+json' };
      const unknown = { type: 'Ready', status: 'Unknown', lastTransitionTime: '2026-01-02T03:04:05Z' };
      const marking = planRequest({
        kind: 'set-node-conditions',
        node: malformed,
        conditions: [{ ...malformed.conditions[0], ...unknown }],
      });
      assert.ok('body' in marking);
      await client.must('PATCH', `${nodesPath}/${malformed.name}/status`, marking.body, patch);
      await until(() => store.get(malformed.name)?.conditions[0]?.status === 'Unknown', syncMs);
      const marked = store.get(malformed.name);
      assert.ok(marked !== undefined);
      assert.equal(marked.taints[0]?.key, 'example.com/k', 'the spec in the patch was ignored');
      const add = [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }];
      const tainting = planRequest({ kind: 'change-taints', node: marked, add, remove: [], lane: 'housekeeping' });
      assert.ok('body' in tainting);
      await client.must('PATCH', `${nodesPath}/${malformed.name}`, tainting.body, patch);
      await until(() => store.get(malformed.name)?.taints.some(({ key }) => key === add[0]?.key) === true, syncMs);
    });
  }
});
