// The cluster of one scenario: nodes, leases and pods on a real kube-apiserver, `nlc controller` as a process, and the fault
// proxy between them. The test writes what kubelets would write, directly to the server.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Taint } from '../../../src/machinery/api/taints.ts';
import type { Toleration } from '../../../src/machinery/api/tolerations.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { NlcProcess } from '../../support/nlc-process.ts';
import type { ControllerManager, ControlPlane } from '../control-plane.ts';
import { kubeconfigText } from '../../../src/cli/simulation/programs/control-plane-credentials.ts';
import { RestClient } from '../rest-client.ts';
import { type NodeJson, type PodJson, type PodOptions, ScriptedCluster } from '../scripted-cluster.ts';
import { waitUntil } from '../wait-until.ts';
import { FaultProxy } from './fault-proxy.ts';
import { type Ending, findDeviations, type Observation, type PodPlace, wantsNoExecute } from './oracle.ts';
import { describeLogs, describeRequests } from './story.ts';

export interface SceneOptions {
  /** Zone of each node. */
  readonly nodes: Readonly<Record<string, string>>;
  /** Appended to the common flags, so that they take precedence. */
  readonly args?: readonly string[];
  /** `nlc` when absent. */
  readonly controller?: ControllerName;
}

/** The controller between which and kube-apiserver the faults are injected. */
export type ControllerName = 'nlc' | 'kube-controller-manager';

/** The grace period of scenarios, unless their arguments set another. */
export const graceMs = 6_000;
const renewEveryMs = 800;
const startTimeoutMs = 30_000;
/** Timeout for the expected end state after a scenario. */
const settleTimeoutMs = 15_000;
const settlePollMs = 250;
const logLinesShown = 40;
const strategic = { contentType: 'application/strategic-merge-patch+json' } as const;

const managerName = 'kube-controller-manager' satisfies ControllerName;
const managerControllers = 'node-lifecycle-controller,taint-eviction-controller';
/** Flags of both controllers. */
const commonFlags = [
  `--node-monitor-grace-period=${graceMs}ms`,
  '--node-monitor-period=1s',
  '--node-eviction-rate=10',
  '--leader-elect=false',
];

export const unreachable = 'node.kubernetes.io/unreachable';
export const notReady = 'node.kubernetes.io/not-ready';

/** A toleration of a NoExecute taint; without seconds it has no limit. */
export function tolerating(key: string, seconds?: number): Toleration {
  const limit = seconds === undefined ? {} : { tolerationSeconds: seconds };
  return { key, operator: 'Exists', effect: 'NoExecute', ...limit };
}

export const patient: readonly Toleration[] = [tolerating(unreachable), tolerating(notReady)];
/** Explicit, because kube-apiserver adds tolerations of 300 s by default. */
export const impatient: readonly Toleration[] = [tolerating(unreachable, 0), tolerating(notReady, 0)];

export class Scene implements AsyncDisposable {
  readonly cluster: ScriptedCluster;
  readonly proxy: FaultProxy;
  readonly client: RestClient;
  readonly plane: ControlPlane;
  readonly #options: SceneOptions;
  readonly #kubeconfig: string;
  readonly #made: PodPlace[] = [];
  #startedAtMs = performance.now();
  #controller: NlcProcess | undefined;
  #manager: ControllerManager | undefined;

  private constructor(plane: ControlPlane, proxy: FaultProxy, parts: { kubeconfig: string; options: SceneOptions }) {
    this.proxy = proxy;
    this.plane = plane;
    this.client = plane.client();
    this.cluster = new ScriptedCluster(this.client, { renewEveryMs });
    this.#kubeconfig = parts.kubeconfig;
    this.#options = parts.options;
  }

  /** Creates the nodes. {@link start} starts the controller. */
  static async make(plane: ControlPlane, ca: string, options: SceneOptions): Promise<Scene> {
    const authority = await TestAuthority.make('authority of the fault proxy');
    const pair = await authority.sign({ subject: 'CN=fault proxy', hosts: ['127.0.0.1'] });
    const proxy = await FaultProxy.start({ upstream: { url: plane.url, ca }, ...pair });
    const kubeconfig = join(plane.folder, 'fault-proxy.kubeconfig');
    const context = { url: proxy.url, ca: authority.cert, token: plane.adminToken };
    writeFileSync(kubeconfig, kubeconfigText(context), { mode: 0o600 });
    const scene = new Scene(plane, proxy, { kubeconfig, options });
    for (const [name, zone] of Object.entries(options.nodes)) await scene.cluster.addNode(name, zone);
    scene.cluster.start();
    return scene;
  }

  get controller(): NlcProcess {
    if (this.#controller === undefined) throw new Error('the controller has not been started');
    return this.#controller;
  }

  /** Starts the controller and waits until it leads and has removed the taints of new nodes. */
  async start(): Promise<void> {
    await this.#startController();
    await this.within(startTimeoutMs, 'all nodes are free of taints', async () => {
      const nodes = await this.nodes();
      return nodes.every(({ spec }) => (spec.taints ?? []).length === 0);
    });
    this.#startedAtMs = performance.now();
  }

  /** Kills the controller and starts it again. Faults stay active. */
  async restartController(): Promise<void> {
    await this.killController();
    await this.#startController();
  }

  async killController(): Promise<void> {
    await this.#manager?.stop();
    if (this.#controller?.hasEnded === false) await this.#controller.kill();
  }

  get controllerName(): ControllerName {
    return this.#options.controller ?? 'nlc';
  }

  get controllerHasEnded(): boolean {
    return (this.#manager ?? this.controller).hasEnded;
  }

  /** The log of the controller so far. */
  get log(): string {
    return this.#manager === undefined ? this.controller.stderr : readFileSync(this.#manager.logFile, 'utf8');
  }

  /** The text of its page of metrics. */
  async metrics(): Promise<string> {
    if (this.#manager === undefined) return this.controller.page('/metrics');
    const certificate = join(this.plane.folder, basename(this.#manager.logFile, '.log'), `${managerName}.crt`);
    const client = new RestClient({
      url: this.#manager.url,
      ca: readFileSync(certificate, 'utf8'),
      token: this.plane.adminToken,
    });
    const { body } = await client.send<{ readonly text: string }>('GET', '/metrics');
    await client.close();
    return body.text;
  }

  hasLogged(message: string): boolean {
    return this.controller.logs().some(({ msg }) => msg === message);
  }

  async addPod(name: string, node: string, tolerations: readonly Toleration[], options?: PodOptions): Promise<void> {
    await this.cluster.addPod(name, node, tolerations, options);
    this.#made.push({ name, node });
  }

  /** Binds the pod as a scheduler does: the PodScheduled condition has the time of the binding. */
  async addPodByBinding(name: string, node: string, tolerations: readonly Toleration[]): Promise<void> {
    await this.cluster.addPod(name, undefined, tolerations, { ready: undefined, phase: 'Pending' });
    await this.cluster.bindPod(name, node);
    await this.cluster.postPod(name);
    this.#made.push({ name, node });
  }

  /** Replaces the NoExecute taints that are not the controller's own. */
  async setOwnTaints(node: string, taints: readonly Taint[]): Promise<void> {
    const { spec } = await this.cluster.node(node);
    const others = (spec.taints ?? []).filter(({ key }) => key.startsWith('node.kubernetes.io/'));
    await this.client.must('PATCH', `/api/v1/nodes/${node}`, { spec: { taints: [...others, ...taints] } }, strategic);
  }

  async nodes(): Promise<readonly NodeJson[]> {
    return (await this.client.must<{ readonly items: readonly NodeJson[] }>('GET', '/api/v1/nodes')).items;
  }

  async pods(): Promise<readonly PodJson[]> {
    const path = '/api/v1/namespaces/default/pods';
    return (await this.client.must<{ readonly items: readonly PodJson[] }>('GET', path)).items;
  }

  readyOf(node: string): Promise<string | undefined> {
    return this.cluster.ready(node);
  }

  podReady(name: string): Promise<string | undefined> {
    return this.cluster.podReady(name);
  }

  /** Waits until the condition holds and returns the time it took, in milliseconds; throws after `limitMs`. */
  async within(limitMs: number, what: string, isSo: () => Promise<boolean> | boolean): Promise<number> {
    const fromMs = performance.now();
    await waitUntil(what, { timeoutMs: limitMs }, async () => await isSo());
    return performance.now() - fromMs;
  }

  untilUnknown(node: string, limitMs: number): Promise<number> {
    return this.within(limitMs, `node ${node} is Unknown`, async () => (await this.readyOf(node)) === 'Unknown');
  }

  untilTaints(node: string, taints: readonly string[], limitMs: number): Promise<number> {
    const wanted = [...taints].sort().join();
    const what = `node ${node} has the taints [${wanted}]`;
    return this.within(limitMs, what, async () => (await this.cluster.taints(node)).join() === wanted);
  }

  untilGone(pod: string, limitMs: number): Promise<number> {
    return this.within(limitMs, `pod ${pod} is gone`, async () => (await this.cluster.pod(pod)) === undefined);
  }

  async sleep(ms: number): Promise<void> {
    await sleep(ms);
  }

  /** When the first DELETE of this pod was forwarded to the server, on the clock of `performance.now()`. */
  deletedAtMs(pod: string): number | undefined {
    const path = `/api/v1/namespaces/default/pods/${pod}`;
    return this.proxy.writes.find(
      (request) =>
        request.method === 'DELETE' && request.path.split('?')[0] === path && request.forwardedAtMs !== undefined,
    )?.forwardedAtMs;
  }

  /** Number of requests for unreachable:NoExecute on the node since `fromMs`, successful or not. */
  noExecuteWrites(node: string, fromMs = 0): number {
    const { writes } = this.proxy;
    return writes.filter((request) => request.atMs >= fromMs && wantsNoExecute(request, node, unreachable)).length;
  }

  /** Waits for the expected end state. Throws with the deviations. */
  async settle(ending: Ending): Promise<void> {
    const deadlineMs = performance.now() + settleTimeoutMs;
    for (;;) {
      const deviations = findDeviations(await this.#observe(), ending);
      if (deviations.length === 0) return;
      if (performance.now() >= deadlineMs) throw new Error(`at the end:\n  ${deviations.join('\n  ')}`);
      await sleep(settlePollMs);
    }
  }

  /** Requests and log lines, for the error message of a failed scenario. */
  story(): string {
    const since = this.proxy.requests.filter(({ atMs }) => atMs >= this.#startedAtMs);
    const lines = this.#manager === undefined ? describeLogs(this.#controller?.logs() ?? []) : this.log.split('\n');
    const log = lines.slice(-logLinesShown);
    return [...describeRequests(since, this.#startedAtMs), 'end of the log:', ...log].join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killController();
    await this.cluster.stop();
    await this.proxy.stop();
    await this.#clean();
    await this.client.close();
  }

  async #observe(): Promise<Observation> {
    const [nodes, pods] = await Promise.all([this.nodes(), this.pods()]);
    return { nodes, pods, made: this.#made, requests: this.proxy.requests };
  }

  async #clean(): Promise<void> {
    await this.client.must('DELETE', '/api/v1/namespaces/default/pods?gracePeriodSeconds=0');
    await this.client.must('DELETE', '/api/v1/nodes');
    await this.client.must('DELETE', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases');
    await this.client.must('DELETE', '/api/v1/namespaces/default/events');
  }

  async #startController(): Promise<void> {
    const flags = [...commonFlags, ...(this.#options.args ?? [])];
    if (this.controllerName === managerName) {
      const files = [`--kubeconfig=${this.#kubeconfig}`, `--controllers=${managerControllers}`];
      this.#manager = await this.plane.startControllerManager([...files, ...flags]);
      return;
    }
    this.#controller = NlcProcess.controller(this.#kubeconfig, '--kube-api-qps=200', '--kube-api-burst=200', ...flags);
    await this.within(startTimeoutMs, 'the controller leads', () => this.hasLogged('leading'));
  }
}
