// Reads nodes, leases, pods and, where their labels count, namespaces of a cluster once. Sends GET requests only.
import { HttpKubeApi } from '../../machinery/kube-client/kube-api.ts';
import type { Connection } from '../../machinery/kube-client/connection.ts';
import { PromMeter } from '../../machinery/adapters/prom-meter.ts';
import { SystemClock } from '../../machinery/adapters/system-clock.ts';
import { SystemRandom } from '../../machinery/adapters/system-random.ts';
import { defaultControllerOptions } from '../../controller/model/options.ts';
import { waitForCacheSync } from '../../machinery/informer/wait-for-cache-sync.ts';
import { makeInformers } from '../../manager/informers.ts';
import type { Logger } from '../../machinery/ports/logger.ts';
import { userAgent } from '../io/version.ts';
import type { ClusterState } from './cluster-evaluation.ts';

const syncMsMax = 120_000;

type ReadCluster = { readonly state: ClusterState } | { readonly missing: readonly string[] };

interface ReadOptions {
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** The labels of namespaces count. */
  readonly namespaceAutonomy: boolean;
}

/** `missing`: what could not be read within two minutes, or before the signal aborted. */
export async function readCluster(
  connection: Connection,
  { logger, signal, namespaceAutonomy }: ReadOptions,
): Promise<ReadCluster> {
  const clock = new SystemClock();
  const dependencies = { clock, logger, random: new SystemRandom(), meter: new PromMeter() };
  const api = new HttpKubeApi({
    ...dependencies,
    connection,
    userAgent: userAgent('whatif'),
    fieldManager: 'nlc-whatif',
    qps: 20,
    burst: 30,
    contentType: 'application/vnd.kubernetes.protobuf',
    mayWrite: () => false,
  });
  const selection = { ...defaultControllerOptions, namespaceAutonomy };
  const { nodes, leases, pods, autonomousNamespaces } = makeInformers({ ...dependencies, api }, selection);
  const informers = [nodes, leases, pods, ...(autonomousNamespaces === undefined ? [] : [autonomousNamespaces])];
  const stop = new AbortController();
  signal.addEventListener('abort', () => stop.abort());
  if (signal.aborted) stop.abort();
  const running = informers.map((informer) => informer.run(stop.signal));
  const missing = await waitForCacheSync(informers, { clock, signal: stop.signal, timeoutMs: syncMsMax });
  const state: ClusterState = {
    atMs: clock.nowMs(),
    nodes: [...nodes.store.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    leases: new Map([...leases.store.values()].map((lease) => [lease.name, lease])),
    pods: Map.groupBy(pods.store.values(), ({ nodeName }) => nodeName),
    autonomousNamespaces:
      autonomousNamespaces && new Set([...autonomousNamespaces.store.values()].map(({ name }) => name)),
  };
  stop.abort();
  await Promise.all(running);
  await api.close();
  return missing.length > 0 ? { missing } : { state };
}
