// The demo environment: 60 hollow nodes on an API server and replicas of the controller in this process, connected by HTTP over
// loopback, and separate informers, so that expectations are checked against the API and not against the controller's caches.
import { HttpKubeApi } from '../../../machinery/kube-client/kube-api.ts';
import type { Connection } from '../../../machinery/kube-client/connection.ts';
import { loadConnection } from '../../../machinery/kubeconfig/connection.ts';
import { PromMeter } from '../../../machinery/adapters/prom-meter.ts';
import type { KubeObject } from '../../../machinery/api/meta.ts';
import { type Node, type NodeView, transformNode } from '../../../machinery/api/node.ts';
import { type Pod, type PodView, transformPod } from '../../../machinery/api/pod.ts';
import { isHealthTaint } from '../../../machinery/api/taints.ts';
import type { NotedDecision } from '../../../controller/decision-log/decision-log.ts';
import { podsByNode } from '../../../controller/node-lifecycle.ts';
import { SharedInformer } from '../../../machinery/informer/shared-informer.ts';
import { waitForCacheSync } from '../../../machinery/informer/wait-for-cache-sync.ts';
import { HollowFleet } from '../../../hollow-cluster/kubelet/fleet/fleet.ts';
import { retryRefused } from '../../../hollow-cluster/kubelet/loops/retry-refused.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import type { ControllerConfig } from '../../controller/config.ts';
import { ControllerProcess } from '../../controller/process.ts';
import { userAgent } from '../../io/version.ts';
import { allNodeNames, demoProfile, fleetNodes, podsOf } from './cluster.ts';
import { DemoReplica } from './replica.ts';

const unlimited = { qps: 2_000, burst: 4_000 } as const;
const podsCreatedAtOnceMax = 20;
const pollEveryMs = 50;

/** The API server of a demo, embedded or real. */
export interface DemoApiServer {
  readonly url: string;
  /** Kubeconfig of the administrator. */
  kubeconfig(): string;
  /** Nothing is answered for this time, or until `endStall`. */
  stall(ms: number): void;
  endStall(): void;
  close(): Promise<void>;
}

interface DemoEnvironmentOptions {
  readonly config: ControllerConfig;
  /** Number of replicas of the controller. */
  readonly replicas: number;
  /** The environment closes it at its end. */
  readonly server: DemoApiServer;
  /** False: only nodes. Default: pods are created, bound to each node. */
  readonly pods?: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Writes the kubeconfig of this run and returns its path. */
  readonly writeKubeconfig: (text: string) => string;
}

export class DemoEnvironment {
  readonly fleet: HollowFleet;
  readonly nodes: SharedInformer<Node, NodeView>;
  readonly pods: SharedInformer<Pod, PodView>;
  readonly replicas: readonly DemoReplica[];
  readonly kubeconfigFile: string;
  readonly server: DemoApiServer;
  readonly #options: DemoEnvironmentOptions;
  /** A client of the demo itself, which is neither the controller nor a node. */
  readonly api: HttpKubeApi;
  readonly #meters = new WeakMap<ControllerProcess, PromMeter>();
  readonly #decisionListeners = new Set<(noted: NotedDecision) => void>();
  readonly #lifetime = new AbortController();
  readonly #running: Promise<unknown>[] = [];

  private constructor(options: DemoEnvironmentOptions, kubeconfigFile: string, connection: Connection) {
    const { clock, random, logger } = options;
    this.#options = options;
    this.server = options.server;
    this.kubeconfigFile = kubeconfigFile;
    const demoMeter = new PromMeter();
    const dependencies = { connection, clock, random, logger };
    this.api = new HttpKubeApi({
      ...dependencies,
      ...unlimited,
      meter: demoMeter,
      userAgent: userAgent('demo'),
      fieldManager: 'nlc-demo',
    });
    const watching = { clock, random, logger, meter: demoMeter, api: this.api };
    const identity = (view: { readonly uid: string; readonly resourceVersion: string }) => view;
    this.fleet = new HollowFleet({ ...watching, nodes: fleetNodes(), profile: demoProfile });
    this.nodes = new SharedInformer({ ...watching, resource: 'nodes', transform: transformNode, identity });
    const indexes = { [podsByNode]: (pod: PodView): readonly string[] => [pod.nodeName] };
    this.pods = new SharedInformer({ ...watching, resource: 'pods', transform: transformPod, identity, indexes });
    const make = (identity: string): ControllerProcess => this.#makeProcess(connection, identity);
    this.replicas = Array.from(
      { length: options.replicas },
      (_, index) => new DemoReplica({ name: `demo-${index + 1}`, clock, make }),
    );
  }

  /** Creates the environment. Only the API server runs afterwards. */
  static async build(options: DemoEnvironmentOptions): Promise<DemoEnvironment> {
    const { server } = options;
    try {
      const kubeconfigFile = options.writeKubeconfig(server.kubeconfig());
      return new DemoEnvironment(options, kubeconfigFile, await loadConnection({ kubeconfig: kubeconfigFile }));
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  /** Registers the nodes, starts the replicas and creates the pods. Ends at once when the signal aborts, with less done. */
  async start(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const lifetime = this.#lifetime.signal;
    this.#running.push(this.nodes.run(lifetime), this.pods.run(lifetime), this.fleet.run(lifetime));
    await waitForCacheSync([this.nodes, this.pods], { clock, signal });
    await this.fleet.whenRegistered(signal);
    while (!signal.aborted && allNodeNames().some((name) => this.ready(name) !== 'True'))
      await clock.sleep(pollEveryMs, signal);
    if (signal.aborted) return;
    this.#running.push(...this.replicas.map((replica) => replica.run(lifetime)));
    if (this.#options.pods !== false) await this.#bindPods(signal);
  }

  async stop(): Promise<void> {
    // Requests that the server holds would delay the end.
    this.server.endStall();
    this.#lifetime.abort();
    await Promise.all(this.#running);
    await this.api.close();
    await this.server.close();
  }

  /** The replica that leads; undefined while none does. */
  leader(): DemoReplica | undefined {
    return this.replicas.find(({ leads }) => leads);
  }

  /** Calls the listener with each decision of the replica that leads. */
  onDecision(listener: (noted: NotedDecision) => void): void {
    this.#decisionListeners.add(listener);
  }

  /** Ends every fault: nodes are connected, the API server answers, and all replicas run. */
  undoAll(): void {
    this.fleet.faults.clear();
    this.fleet.reconnect(allNodeNames());
    this.server.endStall();
    for (const replica of this.replicas) replica.start();
  }

  /** Number of write requests of the running replicas. PUT is left out: the leader renews its lease with it, and nothing else. */
  async controllerWrites(): Promise<number> {
    const counts = this.replicas.map(async ({ process }) => {
      const lines = ((await this.#meters.get(process)?.text()) ?? '').split('\n');
      const writes = lines.filter((line) => /^rest_client_requests_total\{.*method="(POST|PATCH|DELETE)"/.test(line));
      return writes.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  node(name: string): NodeView | undefined {
    return this.nodes.store.get(name);
  }

  ready(name: string): string | undefined {
    return this.node(name)?.conditions.find(({ type }) => type === 'Ready')?.status;
  }

  /** Whether the node has a taint of the controller with this effect. */
  isTainted(name: string, effect: 'NoSchedule' | 'NoExecute'): boolean {
    const taints = this.node(name)?.taints ?? [];
    return taints.some((taint) => taint.effect === effect && isHealthTaint(taint));
  }

  tainted(names: readonly string[], effect: 'NoSchedule' | 'NoExecute'): readonly string[] {
    return names.filter((name) => this.isTainted(name, effect));
  }

  podsOn(node: string): readonly PodView[] {
    return this.pods.store.byIndex(podsByNode, node);
  }

  allPods(): readonly PodView[] {
    return [...this.pods.store.values()];
  }

  #makeProcess(connection: Connection, identity: string): ControllerProcess {
    const { clock, random, logger, config } = this.#options;
    const meter = new PromMeter();
    const process = new ControllerProcess({ connection, clock, random, logger, config, meter, identity, place: '' });
    this.#meters.set(process, meter);
    process.manager.lifecycle.stages.decisions.onDecision((noted) => {
      // Standbys observe the same, and decide nothing.
      if (!process.manager.mayWrite()) return;
      for (const listener of this.#decisionListeners) listener(noted);
    });
    return process;
  }

  async #bindPods(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const lifetime = this.#lifetime.signal;
    const create = (pod: KubeObject): Promise<KubeObject> =>
      retryRefused(() => this.api.create('pods', pod, { signal: lifetime }), clock, lifetime);
    const manifests = allNodeNames().flatMap(podsOf);
    for (let from = 0; from < manifests.length && !signal.aborted; from += podsCreatedAtOnceMax) {
      const some = manifests.slice(from, from + podsCreatedAtOnceMax);
      await Promise.all(some.map(create));
    }
  }
}
