// The embedded API server and a few hollow nodes in the test's process, for controllers in other processes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpKubeApi } from '../../src/machinery/kube-client/kube-api.ts';
import { loadConnection } from '../../src/machinery/kubeconfig/connection.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import type { Event } from '../../src/machinery/api/event.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { type NodeView, transformNode } from '../../src/machinery/api/node.ts';
import { type PodView, transformPod } from '../../src/machinery/api/pod.ts';
import type { Toleration } from '../../src/machinery/api/tolerations.ts';
import { type RunningApiServer, startApiServer } from '../../src/hollow-cluster/apiserver/http/api-server.ts';
import { servedPolicies } from '../../src/cli/simulation/policy-resource.ts';
import { HollowFleet } from '../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { RecordingLogger, SeededRandom } from './fakes.ts';
import { makeKubeApi } from './make-kube-api.ts';
import { ProxiedController } from './proxied-controller.ts';

interface SmallWorldOptions {
  /** Node name to zone. */
  readonly nodes: Readonly<Record<string, string>>;
}

export class SmallWorld implements AsyncDisposable {
  readonly server: RunningApiServer;
  readonly kubeconfigFile: string;
  readonly fleet: HollowFleet;
  readonly api: HttpKubeApi;
  readonly #folder: string;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(parts: Pick<SmallWorld, 'server' | 'kubeconfigFile' | 'fleet' | 'api'>, folder: string) {
    this.server = parts.server;
    this.kubeconfigFile = parts.kubeconfigFile;
    this.fleet = parts.fleet;
    this.api = parts.api;
    this.#folder = folder;
  }

  /** Ready, with every node registered. */
  static async start({ nodes }: SmallWorldOptions): Promise<SmallWorld> {
    const dependencies = { clock: new SystemClock(), random: new SeededRandom(7), logger: new RecordingLogger() };
    const customResources = [servedPolicies()];
    const server = await startApiServer({ ...dependencies, port: 0, defaultTolerationSeconds: 300, customResources });
    const folder = mkdtempSync(join(tmpdir(), 'nlc-small-world-'));
    const kubeconfigFile = join(folder, 'kubeconfig');
    writeFileSync(kubeconfigFile, server.kubeconfig(), { mode: 0o600 });
    const connection = await loadConnection({ kubeconfig: kubeconfigFile });
    const api = makeKubeApi(connection, { ...dependencies, fieldManager: 'small-world' });
    const fleet = new HollowFleet({
      ...dependencies,
      api,
      nodes: Object.entries(nodes).map(([name, zone]) => {
        return { name, labels: { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': zone } };
      }),
      profile: {
        leaseDurationSeconds: 4,
        nodeStatusUpdateFrequencyMs: 1_000,
        nodeStatusReportFrequencyMs: 300_000,
        podStartDelayMs: 100,
        podStopDelayMs: 100,
        podStatusPassMs: 1_000,
      },
    });
    const world = new SmallWorld({ server, kubeconfigFile, fleet, api }, folder);
    world.#running = fleet.run(world.#stop.signal);
    await fleet.whenRegistered(AbortSignal.timeout(20_000));
    return world;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.api.close();
    await this.server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** A controller on this API server whose requests are recorded. */
  proxied(args: readonly string[], imports: readonly string[] = []): Promise<ProxiedController> {
    const { url, caPem, adminToken } = this.server;
    return ProxiedController.start({ url, ca: caPem, token: adminToken, args, imports });
  }

  async addPod(name: string, nodeName: string, tolerations: readonly Toleration[]): Promise<void> {
    const pod = {
      metadata: { name, namespace: 'default' },
      spec: { nodeName, terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'i' }], tolerations },
    };
    await this.api.create('pods', pod, { signal: AbortSignal.timeout(5_000) });
  }

  async nodes(): Promise<readonly NodeView[]> {
    return (await this.#list('nodes')).map(transformNode);
  }

  async node(name: string): Promise<NodeView> {
    return transformNode(await this.api.get('nodes', { name }, { signal: AbortSignal.timeout(5_000) }));
  }

  async pods(): Promise<readonly PodView[]> {
    return (await this.#list('pods')).map(transformPod);
  }

  async events(): Promise<readonly Event[]> {
    return (await this.#list('events')) as readonly Event[];
  }

  async #list(resource: 'nodes' | 'pods' | 'events'): Promise<readonly KubeObject[]> {
    return (await this.api.list(resource, { signal: AbortSignal.timeout(5_000) })).items;
  }
}

/** `key:effect` of each taint, without Kubernetes' prefix. */
export function taintsOf(node: NodeView): readonly string[] {
  return node.taints.map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`).sort();
}

export async function until<T>(what: string, timeoutMs: number, ask: () => Promise<T | undefined | false>): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadlineMs) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
