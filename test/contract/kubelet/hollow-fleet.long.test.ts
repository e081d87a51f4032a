import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { plainConnection } from '../../support/plain-connection.ts';
import type { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { manifestText } from '../../../src/cli/simulation/hollow-nodes/manifests/manifest-text.ts';
import { StaticPodFiles } from '../../../src/cli/simulation/hollow-nodes/manifests/files.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { findCondition, listConditions } from '../../../src/machinery/api/conditions.ts';
import type { Lease } from '../../../src/machinery/api/lease.ts';
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';
import { nodeLeaseNamespace, type ResourceName } from '../../../src/machinery/api/resources.ts';
import { type RunningApiServer, startApiServer } from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import { HollowFleet } from '../../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { FileSource } from '../../../src/hollow-cluster/kubelet/static-pods/file-source.ts';
import type { KubeReader } from '../../../src/machinery/ports/kube-reader.ts';
import type { KubeWriter } from '../../../src/machinery/ports/kube-writer.ts';
import { aManifest } from '../../support/manifest-folder.ts';
import { RecordingLogger, RecordingRecorder, SeededRandom } from '../../support/fakes.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { until } from '../../support/small-world.ts';

const clock = new SystemClock();
const waitMs = 15_000;
const names = Array.from({ length: 20 }, (_, index) => `node-${index}`);

/** A tenth of the real periods: a lease renewal each second, and a status computation too. */
const profile = {
  leaseDurationSeconds: 4,
  nodeStatusUpdateFrequencyMs: 1_000,
  nodeStatusReportFrequencyMs: 300_000,
  podStatusPassMs: 1_000,
  podStartDelayMs: 200,
  podStopDelayMs: 200,
};

/** The node with static pods. */
const staticNode = 'node-16';

describe('twenty hollow nodes on the embedded API server', () => {
  const logger = new RecordingLogger();
  const life = new AbortController();
  const { signal } = life;
  let server: RunningApiServer;
  let api: HttpKubeApi;
  let fleet: HollowFleet;
  let running: Promise<void>;
  let folder: string;
  const recorder = new RecordingRecorder();
  /** Write requests of kubelets about pods, as `patch web` or `delete web`, with their bodies. */
  const written: { readonly verb: string; readonly pod: string; readonly body: string }[] = [];
  let podNumber = 0;
  let pod: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'manifests-'));
    server = await startApiServer({ clock, random: new SeededRandom(1), logger, tls: false });
    api = makeKubeApi(plainConnection(server.url, { token: server.adminToken }), { logger, fieldManager: 'kubelet' });
    fleet = new HollowFleet({
      nodes: names.map((name) => ({ name, labels: { 'topology.kubernetes.io/zone': 'a' } })),
      api: watched(api, (verb, pod, body) => void written.push({ verb, pod, body })),
      clock,
      random: new SeededRandom(1),
      logger,
      profile,
      recorder: () => recorder,
      sources: (nodeName) => (nodeName === staticNode ? [staticPods(folder, nodeName, logger)] : []),
    });
    running = fleet.run(signal);
    await fleet.whenRegistered(signal);
  });

  after(async () => {
    life.abort();
    await running;
    await api.close();
    await server.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(logger.at('error'), []);
  });

  beforeEach(() => {
    podNumber += 1;
    pod = `web-${podNumber}`;
  });

  async function find(resource: ResourceName, name: string, namespace?: string): Promise<KubeObject | undefined> {
    const { items } = await api.list(resource, {
      fieldSelector: `metadata.name=${name}`,
      ...(namespace === undefined ? {} : { namespace }),
      signal,
    });
    return items[0];
  }

  const readyOf = (object: Node | Pod | undefined) =>
    findCondition(listConditions(object?.status?.conditions), 'Ready');
  const nodeReady = async (name: string) => readyOf(await find('nodes', name))?.status;
  const findPod = (name: string): Promise<Pod | undefined> => find('pods', name, 'default');
  const podReady = async (name: string) => readyOf(await findPod(name))?.status;

  async function renewTime(name: string): Promise<string> {
    const lease: Lease | undefined = await find('leases', name, nodeLeaseNamespace);
    return lease?.spec?.renewTime ?? '';
  }

  function bind(name: string, nodeName: string, more: Pick<Pod, 'metadata' | 'spec'> = { metadata: {} }): Promise<Pod> {
    const wanted: Pod = {
      metadata: { name, namespace: 'default', ...more.metadata },
      spec: { nodeName, containers: [{ name: 'main', image: 'registry.invalid/pause:1' }], ...more.spec },
    };
    return api.create('pods', wanted, { signal });
  }

  async function run(name: string, nodeName: string): Promise<Pod> {
    const created = await bind(name, nodeName);
    await until(`${name} ready`, waitMs, async () => (await podReady(name)) === 'True');
    return created;
  }

  async function remove(name: string, gracePeriodSeconds?: number): Promise<void> {
    const uid = (await findPod(name))?.metadata.uid ?? '';
    const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    await api.delete('pods', { namespace: 'default', name }, { uid, ...grace, signal });
  }

  async function vanished(name: string): Promise<void> {
    await until(`${name} gone`, waitMs, async () => (await findPod(name)) === undefined);
  }

  async function markNotReady(name: string): Promise<void> {
    const conditions = [{ type: 'Ready', status: 'False', reason: 'NodeNotReady' }];
    const patch = { type: 'strategic-merge', body: { status: { conditions } } } as const;
    await api.patch('pods', { namespace: 'default', name }, patch, { signal, subresource: 'status' });
  }

  it('are all registered, become ready, and have different addresses', async () => {
    await until('all ready', waitMs, async () => fleet.status().ready === names.length);
    const { items } = await api.list('nodes', { signal });
    const nodes: readonly Node[] = items;
    assert.equal(nodes.length, names.length);
    const seen = nodes.map((node) => readyOf(node)?.status);
    assert.deepEqual(
      seen,
      names.map(() => 'True'),
    );
    assert.equal(new Set(nodes.map((node) => node.status?.addresses?.[0]?.address)).size, names.length);
    assert.equal(nodes[0]?.status?.capacity?.['memory'], '32Gi');
  });

  it('renew their leases, each owned by its node', async () => {
    await until('a lease each', waitMs, async () => {
      const { items } = await api.list('leases', { namespace: nodeLeaseNamespace, signal });
      return items.length === names.length;
    });
    const node = await find('nodes', 'node-7');
    const lease: Lease | undefined = await find('leases', 'node-7', nodeLeaseNamespace);
    assert.equal(lease?.metadata.ownerReferences?.[0]?.uid, node?.metadata.uid);
    assert.equal(lease?.spec?.leaseDurationSeconds, 4);
    const renewed = lease?.spec?.renewTime ?? '';
    await until('a renewal', waitMs, async () => (await renewTime('node-7')) > renewed);
  });

  it('do not write an unchanged node and an unchanged pod', async () => {
    await run(pod, 'node-2');
    await until('nothing to write', waitMs, async () => fleet.status().unwrittenPods === 0);
    const [node, settled] = [await find('nodes', 'node-2'), await findPod(pod)];
    await clock.sleep(2_500, signal);
    assert.equal((await find('nodes', 'node-2'))?.metadata.resourceVersion, node?.metadata.resourceVersion);
    assert.equal((await findPod(pod))?.metadata.resourceVersion, settled?.metadata.resourceVersion);
  });

  it('run a bound pod', async () => {
    await run(pod, 'node-3');
    const status = (await findPod(pod))?.status;
    assert.equal(status?.phase, 'Running');
    assert.match(status?.podIP ?? '', /^10\.128\.3\./);
    assert.deepEqual(status?.podIPs, [{ ip: status?.podIP }]);
    assert.equal(status?.containerStatuses?.[0]?.ready, true);
    assert.ok(status?.startTime !== undefined);
  });

  it('complete a graceful deletion', async () => {
    await run(pod, 'node-3');
    await remove(pod);
    await vanished(pod);
    const about = written.filter((request) => request.pod === pod);
    const verbs = about.slice(-2).map(({ verb }) => verb);
    assert.deepEqual(verbs, ['patch', 'delete'], 'the final status, then the deletion');
    assert.match(about.at(-2)?.body ?? '', /"phase":"Succeeded"/);
  });

  it('reject a pod that exceeds the capacity, with the amounts in the message', async () => {
    const resources = { requests: { cpu: '9k' } };
    await bind(pod, 'node-7', { metadata: {}, spec: { containers: [{ name: 'main', image: 'i', resources }] } });
    await until('rejected', waitMs, async () => (await findPod(pod))?.status?.phase === 'Failed');
    const status = (await findPod(pod))?.status;
    assert.equal(status?.reason, 'OutOfcpu');
    assert.match(
      status?.message ?? '',
      /^Pod was rejected: Node didn't have enough resource: cpu, requested: 9000000, /,
    );
  });

  it('restart a crashing container with growing back-off, and report CrashLoopBackOff', async () => {
    const annotations = { 'hollow-kubelet/exit-after': '100ms', 'hollow-kubelet/exit-code': '3' };
    await bind(pod, 'node-8', { metadata: { annotations } });
    const restarts = async (): Promise<number> =>
      (await findPod(pod))?.status?.containerStatuses?.[0]?.restartCount ?? 0;
    await until('two restarts', 30_000, async () => (await restarts()) >= 2);
    assert.ok(written.some((request) => request.pod === pod && request.body.includes('CrashLoopBackOff')));
    assert.ok(recorder.drafts.some(({ about, reason }) => about.name === pod && reason === 'BackOff'));
    await remove(pod);
    await vanished(pod);
  });

  it('run a static pod from a file, and recreate its mirror after its deletion', async () => {
    const name = `stat-${staticNode}`;
    const findMirror = (): Promise<Pod | undefined> => find('pods', name, 'kube-system');
    const isReady = async (): Promise<boolean> => readyOf(await findMirror())?.status === 'True';
    await writeFile(join(folder, 'stat.yaml'), aManifest('stat'));
    await until('a mirror that is ready', waitMs, isReady);
    const first = await findMirror();
    const node = await find('nodes', staticNode);
    assert.equal(first?.metadata.ownerReferences?.[0]?.uid, node?.metadata.uid);
    const uid = first?.metadata.uid ?? '';
    await api.delete('pods', { namespace: 'kube-system', name }, { uid, signal });
    const isAnother = async (): Promise<boolean> => ((await findMirror())?.metadata.uid ?? uid) !== uid;
    await until('another mirror', waitMs, async () => (await isAnother()) && (await isReady()));
    const second = await findMirror();
    const containerOf = (mirror: Pod | undefined) => mirror?.status?.containerStatuses?.[0]?.containerID;
    assert.equal(containerOf(second), containerOf(first), 'the static pod was not restarted');
    await rm(join(folder, 'stat.yaml'));
    await until('no mirror', waitMs, async () => (await findMirror()) === undefined);
  });

  it('handle a forced deletion followed by a new pod of the same name', async () => {
    const first = await run(pod, 'node-4');
    await remove(pod, 0);
    const second = await run(pod, 'node-4');
    assert.notEqual(second.metadata.uid, first.metadata.uid);
  });

  it('correct a pod that another client marked not ready', async () => {
    await run(pod, 'node-5');
    const since = readyOf(await findPod(pod))?.lastTransitionTime;
    await markNotReady(pod);
    await until('ready again', waitMs, async () => (await podReady(pod)) === 'True');
    const ready = readyOf(await findPod(pod));
    assert.deepEqual([ready?.lastTransitionTime, ready?.reason], [since, undefined]);
  });

  it('report an injected fault, and its end', async () => {
    const machine = fleet.kubelet('node-6')?.health;
    assert.ok(machine !== undefined);
    machine.fault = 'the disk is on fire';
    machine.setCondition('DiskPressure', true);
    await until('not ready', waitMs, async () => (await nodeReady('node-6')) === 'False');
    const node: Node | undefined = await find('nodes', 'node-6');
    assert.equal(readyOf(node)?.message, 'the disk is on fire');
    assert.equal(findCondition(listConditions(node?.status?.conditions), 'DiskPressure')?.status, 'True');
    machine.fault = undefined;
    await until('ready', waitMs, async () => (await nodeReady('node-6')) === 'True');
  });

  it('stop heartbeats while cut off, and catch up when reconnected', async () => {
    const disconnected = ['node-10', 'node-11', 'node-12'];
    const [kept, deleted, forced, late] = ['kept', 'deleted', 'forced', 'late'].map((word) => `${pod}-${word}`);
    assert.ok(kept !== undefined && deleted !== undefined && forced !== undefined && late !== undefined);
    for (const name of [kept, deleted, forced]) await run(name, 'node-10');

    fleet.cutOff(disconnected);
    // Requests that were in flight at the cut still arrive.
    await clock.sleep(500, signal);
    const silentSince = await renewTime('node-10');
    await markNotReady(kept);
    await remove(deleted);
    await remove(forced, 0);
    await bind(late, 'node-10');
    await clock.sleep(2_500, signal);
    assert.equal(await renewTime('node-10'), silentSince);
    assert.equal((await findPod(deleted))?.status?.phase, 'Running', 'the cut-off node has not stopped it');
    assert.equal((await findPod(late))?.status?.phase, 'Pending', 'the cut-off node has not received it');
    assert.equal(await podReady(kept), 'False');
    assert.equal(fleet.node('node-10')?.pods, 3);

    fleet.reconnect(disconnected);
    await until('renewed', waitMs, async () => (await renewTime('node-10')) > silentSince);
    await vanished(deleted);
    await until('kept ready again', waitMs, async () => (await podReady(kept)) === 'True');
    await until('late ready', waitMs, async () => (await podReady(late)) === 'True');
    await until('the force-deleted pod removed', waitMs, async () => fleet.node('node-10')?.pods === 2);
  });

  it('survive a server that drops every connection', async () => {
    const renewedAtMs = (): number => fleet.node('node-15')?.renewedAtMs ?? 0;
    const before = renewedAtMs();
    server.dropConnections();
    await until('a renewal', waitMs, async () => renewedAtMs() > before);
    await run(pod, 'node-15');
  });
});

function staticPods(folder: string, nodeName: string, logger: RecordingLogger): FileSource {
  return new FileSource({ nodeName, files: new StaticPodFiles(folder), text: manifestText, clock, logger });
}

/** The same API, with a callback for each write of a pod. */
function watched(
  api: HttpKubeApi,
  onWrite: (verb: string, pod: string, body: string) => void,
): KubeReader & KubeWriter {
  return {
    get: (resource, name, options) => api.get(resource, name, options),
    list: (resource, options) => api.list(resource, options),
    watch: (resource, options) => api.watch(resource, options),
    create: (resource, object, options) => api.create(resource, object, options),
    replace: (resource, object, options) => api.replace(resource, object, options),
    patch: (resource, name, patch, options) => {
      if (resource === 'pods') onWrite('patch', name.name, JSON.stringify(patch.body));
      return api.patch(resource, name, patch, options);
    },
    delete: (resource, name, options) => {
      if (resource === 'pods') onWrite('delete', name.name, '');
      return api.delete(resource, name, options);
    },
    evict: (pod, options) => api.evict(pod, options),
  };
}
