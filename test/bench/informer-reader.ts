// One measurement of the bench, in a process of its own: `informer-reader.ts URL FORM updates|load`. Sends its figures to
// its parent. It runs what the controller runs: the client, the informers with their transforms and indexes, a listener.
import { plainConnection } from '../support/plain-connection.ts';
import { HttpKubeApi } from '../../src/machinery/kube-client/kube-api.ts';
import { PromMeter } from '../../src/machinery/adapters/prom-meter.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { jsonType, protobufType } from '../../src/machinery/wire/wire-format.ts';
import { transformLease } from '../../src/machinery/api/lease.ts';
import { transformNode } from '../../src/machinery/api/node.ts';
import { type PodView, transformPod } from '../../src/machinery/api/pod.ts';
import { SharedInformer } from '../../src/machinery/informer/shared-informer.ts';
import { RecordingLogger, SeededRandom } from '../support/fakes.ts';

const warmUpMs = 3_000;
const measureMs = 6_000;

const [url = '', form = '', what = ''] = process.argv.slice(2);
const clock = new SystemClock();
const dependencies = {
  api: new HttpKubeApi({
    connection: plainConnection(url),
    clock,
    logger: new RecordingLogger(),
    meter: new PromMeter(),
    userAgent: 'bench',
    fieldManager: 'bench',
    qps: 0,
    burst: 0,
    contentType: form === 'protobuf' ? protobufType : jsonType,
  }),
  clock,
  random: new SeededRandom(1),
  logger: new RecordingLogger(),
  meter: new PromMeter(),
};
const identity = (view: { readonly uid: string; readonly resourceVersion: string }): typeof view => view;
const problemsOf = ({ problems }: { readonly problems?: readonly string[] }): typeof problems => problems;
const stop = new AbortController();

const leases = (): SharedInformer<never, ReturnType<typeof transformLease>> =>
  new SharedInformer({
    ...dependencies,
    resource: 'leases',
    selection: { namespace: 'kube-node-lease' },
    transform: transformLease,
    identity,
    problemsOf,
  });
const nodes = (): SharedInformer<never, ReturnType<typeof transformNode>> =>
  new SharedInformer({ ...dependencies, resource: 'nodes', transform: transformNode, identity, problemsOf });
const pods = (): SharedInformer<never, PodView> =>
  new SharedInformer({
    ...dependencies,
    resource: 'pods',
    transform: transformPod,
    identity,
    problemsOf,
    shared: ['namespace', 'nodeName', 'tolerations', 'labels'],
    indexes: { podsByNode: (pod: PodView) => (pod.nodeName === '' ? [] : [pod.nodeName]) },
  });

/** Bytes of heap in use after a garbage collection. */
function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** CPU time of the reading thread only; other processes on the machine do not affect it. */
function cpuSeconds({ user, system }: { readonly user: number; readonly system: number }): number {
  return (user + system) / 1e6;
}

async function measureUpdates(): Promise<object> {
  const informer = leases();
  let received = 0;
  const latest = new Map<string, string | undefined>();
  informer.onChange('bench', ({ object }) => {
    received += 1;
    latest.set(object.name, object.renewTime);
  });
  const running = informer.run(stop.signal);
  await informer.whenSynced();
  await clock.sleep(warmUpMs, stop.signal);
  const before = received;
  const sinceMs = performance.now();
  const cpu = process.threadCpuUsage();
  await clock.sleep(measureMs, stop.signal);
  const seconds = (performance.now() - sinceMs) / 1_000;
  const perSecond = (received - before) / seconds;
  const perCpuSecond = (received - before) / cpuSeconds(process.threadCpuUsage(cpu));
  stop.abort();
  await running;
  return { perSecond, perCpuSecond };
}

interface Moment {
  readonly ms: number;
  readonly cpu: { readonly user: number; readonly system: number };
}

function took({ ms, cpu }: Moment): { readonly seconds: number; readonly cpuSeconds: number } {
  return { seconds: (performance.now() - ms) / 1_000, cpuSeconds: cpuSeconds(process.threadCpuUsage(cpu)) };
}

async function measureLoad(): Promise<object> {
  const emptyBytes = heapBytes();
  const since = { ms: performance.now(), cpu: process.threadCpuUsage() };
  const nodeInformer = nodes();
  const runningNodes = nodeInformer.run(stop.signal);
  await nodeInformer.whenSynced();
  const nodesTook = took(since);
  const nodesBytes = heapBytes();
  const podInformer = pods();
  const podsSince = { ms: performance.now(), cpu: process.threadCpuUsage() };
  const runningPods = podInformer.run(stop.signal);
  await podInformer.whenSynced();
  const podsTook = took(podsSince);
  const rss = process.memoryUsage().rss;
  const peak = process.resourceUsage().maxRSS * 1_024;
  const allBytes = heapBytes();
  const figures = {
    nodesTook,
    podsTook,
    rss,
    peak,
    rssAfterCollection: process.memoryUsage().rss,
    bytesPerNode: (nodesBytes - emptyBytes) / nodeInformer.store.size,
    bytesPerPod: (allBytes - nodesBytes) / podInformer.store.size,
    nodes: nodeInformer.store.size,
    pods: podInformer.store.size,
  };
  stop.abort();
  await Promise.all([runningNodes, runningPods]);
  return figures;
}

const figures = what === 'updates' ? await measureUpdates() : await measureLoad();
await dependencies.api.close();
process.send?.(figures);
if (process.send === undefined) console.log(figures);
process.disconnect?.();
