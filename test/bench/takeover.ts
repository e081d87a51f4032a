// How long a standby that takes over blocks the event loop, and with it its own lease renewal: the longest iteration, in CPU
// seconds of the thread. Real informers with the transforms of a large cluster, and no writes. Figures are printed and not
// checked: they depend on the machine. `-- --scale=0.1` takes over a tenth of the cluster.
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { SystemRandom } from '../../src/machinery/adapters/system-random.ts';
import { transformLease } from '../../src/machinery/api/lease.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { transformNode } from '../../src/machinery/api/node.ts';
import { transformPod } from '../../src/machinery/api/pod.ts';
import type { ResourceName } from '../../src/machinery/api/resources.ts';
import { formatMicroTime, formatTime } from '../../src/machinery/api/timestamps.ts';
import { selectControllers } from '../../src/cli/controller/rules.ts';
import { NodeLifecycle, podsByNode } from '../../src/controller/node-lifecycle.ts';
import { defaultControllerOptions, defaultPodGcOptions } from '../../src/controller/model/options.ts';
import { SharedInformer } from '../../src/machinery/informer/shared-informer.ts';
import { waitForCacheSync } from '../../src/machinery/informer/wait-for-cache-sync.ts';
import type { KubeReader, WatchEvent, WatchStream } from '../../src/machinery/ports/kube-reader.ts';
import { OpenLanes } from '../support/open-lanes.ts';
import { RecordingMeter, RecordingRecorder, silentLogger } from '../support/fakes.ts';
import { liveLeases } from '../support/live-leases.ts';

const scale = Number(process.argv.find((argument) => argument.startsWith('--scale='))?.split('=')[1] ?? 1);
const nodeCount = Math.round(100_000 * scale);
const podCount = Math.round(1_000_000 * scale);
const measureMs = 10_000;
const batchObjects = 500;
/** Shares of the nodes that are silent for long. */
const silentShares = [0, 0.3];

const clock = new SystemClock();
const at = formatTime(clock.nowMs());

function metadata(name: string, index: number, namespace?: string): KubeObject['metadata'] {
  const meta = { name, uid: `uid-${name}`, resourceVersion: String(index + 1), creationTimestamp: at };
  return namespace === undefined ? meta : { ...meta, namespace };
}

function aNode(index: number, silent: boolean): KubeObject {
  const conditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => {
    const status = type === 'Ready' ? 'True' : 'False';
    return { type, status: silent ? 'Unknown' : status, lastHeartbeatTime: at, lastTransitionTime: at };
  });
  const labels = { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': `z${index % 3}` };
  const node = { metadata: { ...metadata(`node-${index}`, index), labels }, spec: {}, status: { conditions } };
  return node;
}

function aPod(index: number): KubeObject {
  const spec = { nodeName: `node-${index % nodeCount}`, tolerations: [{ operator: 'Exists' }] };
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const pod = { metadata: metadata(`pod-${index}`, index, `team-${index % 500}`), spec, status };
  return pod;
}

function aLease(index: number): KubeObject {
  const lease = {
    metadata: metadata(`node-${index}`, index, 'kube-node-lease'),
    spec: { renewTime: formatMicroTime(clock.nowMs()) },
  };
  return lease;
}

async function* stateOf(make: (index: number) => KubeObject, count: number, signal: AbortSignal): WatchStream {
  for (let from = 0; from < count; from += batchObjects) {
    const size = Math.min(batchObjects, count - from);
    yield Array.from({ length: size }, (_, place): WatchEvent => ({ type: 'ADDED', object: make(from + place) }));
  }
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  yield [{ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(count + 1), annotations } } }];
  await clock.sleep(Infinity, signal);
}

/** A cluster that is complete at once and then does not change. */
function aCluster(silentShare: number): KubeReader {
  const makes: Partial<Record<ResourceName, readonly [(index: number) => KubeObject, number]>> = {
    nodes: [(index) => aNode(index, index < nodeCount * silentShare), nodeCount],
    pods: [aPod, podCount],
    leases: [aLease, nodeCount],
  };
  const refuse = (): Promise<never> => Promise.reject(new Error('only watches are expected'));
  const watch: KubeReader['watch'] = (resource, { signal }) => {
    const [make, count] = makes[resource] ?? [aPod, 0];
    return Promise.resolve(stateOf(make, count, signal));
  };
  return { get: refuse, list: refuse, watch };
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The longest iteration of the event loop until the signal aborts, and the sum of all. */
async function watchTurns(signal: AbortSignal): Promise<{ readonly longestMs: number; readonly allMs: number }> {
  const beganMs = cpuMs();
  let longestMs = 0;
  for (let sinceMs = beganMs; !signal.aborted; ) {
    await new Promise((resolve) => setImmediate(resolve));
    const nowMs = cpuMs();
    longestMs = Math.max(longestMs, nowMs - sinceMs);
    sinceMs = nowMs;
  }
  return { longestMs, allMs: cpuMs() - beganMs };
}

async function takeOver(silentShare: number): Promise<void> {
  const dependencies = {
    api: aCluster(silentShare),
    clock,
    random: new SystemRandom(),
    logger: silentLogger,
    meter: new RecordingMeter(),
  };
  const identity = (view: { readonly uid: string; readonly resourceVersion: string }): typeof view => view;
  const nodes = new SharedInformer({ ...dependencies, resource: 'nodes', transform: transformNode, identity });
  const leases = new SharedInformer({ ...dependencies, resource: 'leases', transform: transformLease, identity });
  const pods = new SharedInformer({
    ...dependencies,
    resource: 'pods',
    transform: transformPod,
    identity,
    shared: ['namespace', 'nodeName', 'tolerations', 'labels'],
    indexes: { [podsByNode]: ({ nodeName }) => [nodeName] },
  });
  const unanswered = (): Promise<never> => new Promise(() => undefined);
  const lifecycle = new NodeLifecycle({
    ...dependencies,
    options: { current: () => defaultControllerOptions },
    controllers: selectControllers('*'),
    podGc: { current: () => defaultPodGcOptions },
    informers: { nodes, leases, pods },
    api: { get: unanswered, patch: unanswered, delete: unanswered, evict: unanswered },
    liveLeases: liveLeases(() => Promise.resolve(new Map())),
    lanes: new OpenLanes(),
    leadership: { holds: () => false },
    recorders: { nodes: new RecordingRecorder(), evictions: new RecordingRecorder() },
  });
  const stop = new AbortController();
  const running = [nodes, leases, pods].map((informer) => informer.run(stop.signal));
  await waitForCacheSync([nodes, leases, pods], { clock, signal: stop.signal });
  const turns = watchTurns(stop.signal);
  const leading = lifecycle.lead(stop.signal);
  await clock.sleep(measureMs, stop.signal);
  stop.abort();
  const { longestMs, allMs } = await turns;
  await Promise.all([leading, ...running]);
  const share = `${Math.round(silentShare * 100)} % of them silent`;
  console.log(
    `takeover, ${nodeCount.toLocaleString('en')} nodes, ${share}, ${podCount.toLocaleString('en')} pods: ` +
      `longest iteration ${(longestMs / 1_000).toFixed(2)} s, in ${Math.round(measureMs / 1_000)} s ${(allMs / 1_000).toFixed(1)} s`,
  );
}

for (const share of silentShares) await takeOver(share);
