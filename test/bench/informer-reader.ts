// One reading of the bench, in a process of its own: `informer-reader.ts URL FORM updates|load`. Sends its figures to its
// parent. What runs is what the controller runs: the client, the informers with their views and indexes, a listener.
import { plainConnection } from '../../src/adapters/http-connection.ts';
import { HttpKubeApi } from '../../src/adapters/http-kube-api.ts';
import { PromMeter } from '../../src/adapters/prom-meter.ts';
import { SystemClock } from '../../src/adapters/system-clock.ts';
import { jsonType, protobufType } from '../../src/adapters/wire-format.ts';
import { viewLease } from '../../src/api/lease.ts';
import { viewNode } from '../../src/api/node.ts';
import { type PodView, viewPod } from '../../src/api/pod.ts';
import { SharedInformer } from '../../src/informer/shared-informer.ts';
import { KeepingLogger, SeededRandom } from '../support/quiet.ts';

const warmUpMs = 3_000;
const measureMs = 6_000;

const [url = '', form = '', what = ''] = process.argv.slice(2);
const clock = new SystemClock();
const means = {
  api: new HttpKubeApi({
    connection: plainConnection(url),
    clock,
    logger: new KeepingLogger(),
    meter: new PromMeter(),
    userAgent: 'bench',
    fieldManager: 'bench',
    qps: 0,
    burst: 0,
    contentType: form === 'protobuf' ? protobufType : jsonType,
  }),
  clock,
  random: new SeededRandom(1),
  logger: new KeepingLogger(),
  meter: new PromMeter(),
};
const identity = (view: { readonly uid: string; readonly resourceVersion: string }): typeof view => view;
const flawsOf = ({ flaws }: { readonly flaws?: readonly string[] }): typeof flaws => flaws;
const stop = new AbortController();

const leases = (): SharedInformer<never, ReturnType<typeof viewLease>> =>
  new SharedInformer({
    ...means,
    resource: 'leases',
    selection: { namespace: 'kube-node-lease' },
    view: viewLease,
    identity,
    flawsOf,
  });
const nodes = (): SharedInformer<never, ReturnType<typeof viewNode>> =>
  new SharedInformer({ ...means, resource: 'nodes', view: viewNode, identity, flawsOf });
const pods = (): SharedInformer<never, PodView> =>
  new SharedInformer({
    ...means,
    resource: 'pods',
    view: viewPod,
    identity,
    flawsOf,
    shared: ['namespace', 'nodeName', 'tolerations', 'labels'],
    indexes: { podsByNode: (pod: PodView) => (pod.nodeName === '' ? [] : [pod.nodeName]) },
  });

/** Bytes of the heap that are in use after everything that can be is collected. */
function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** Of the one thread that reads: what others on the machine do does not count. */
function cpuSeconds({ user, system }: { readonly user: number; readonly system: number }): number {
  return (user + system) / 1e6;
}

async function measureUpdates(): Promise<object> {
  const informer = leases();
  let heard = 0;
  const latest = new Map<string, string | undefined>();
  informer.onChange('bench', ({ object }) => {
    heard += 1;
    latest.set(object.name, object.renewTime);
  });
  const running = informer.run(stop.signal);
  await informer.whenSynced();
  await clock.sleep(warmUpMs, stop.signal);
  const before = heard;
  const sinceMs = performance.now();
  const cpu = process.threadCpuUsage();
  await clock.sleep(measureMs, stop.signal);
  const seconds = (performance.now() - sinceMs) / 1_000;
  const perSecond = (heard - before) / seconds;
  const perCpuSecond = (heard - before) / cpuSeconds(process.threadCpuUsage(cpu));
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
await means.api.close();
process.send?.(figures);
if (process.send === undefined) console.log(figures);
process.disconnect?.();
