// A release of the chart whose pods kube-scheduler places on three hollow nodes, on a real control plane. The pods run on a
// fake runtime; the taints are those of a controller beside them.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { loadConnection } from '../../src/machinery/kubeconfig/connection.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import type { Node } from '../../src/machinery/api/node.ts';
import type { Pod } from '../../src/machinery/api/pod.ts';
import { WorkloadPrograms } from '../../src/cli/simulation/programs/workload-programs.ts';
import { HollowFleet } from '../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { namespaceObjects } from '../../tools/manifests/manifest-pages.ts';
import { type KubeManifest, namespace, renderChart } from '../../tools/manifests/render.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import type { RestClient } from '../control-plane/rest-client.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { SeededRandom, silentLogger } from '../support/fakes.ts';
import { makeKubeApi } from '../support/make-kube-api.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { yamlOf } from './release-stand.ts';

export const nodeNames = ['n-0', 'n-1', 'n-2'];
/** With this grace period instead of 50 s, a node's death is noticed that much earlier. */
export const graceSeconds = 6;
const soon = { timeoutMs: 60_000, pollMs: 100 };
const profile = {
  leaseDurationSeconds: 4,
  nodeStatusUpdateFrequencyMs: 1_000,
  podStatusPassMs: 1_000,
  podStartDelayMs: 100,
  podStopDelayMs: 100,
} as const;

interface Listed<T> {
  readonly items: readonly T[];
}

export class ScheduledRelease {
  readonly fleet: HollowFleet;
  readonly #plane: ControlPlane;
  readonly #client: RestClient;
  readonly #programs: WorkloadPrograms;
  readonly #stopFleet: () => Promise<void>;
  #controller: NlcProcess | undefined;
  #workload = '';

  private constructor(plane: ControlPlane, programs: WorkloadPrograms, fleet: HollowFleet, stop: () => Promise<void>) {
    this.#plane = plane;
    this.#client = plane.client();
    this.#programs = programs;
    this.fleet = fleet;
    this.#stopFleet = stop;
  }

  /** Starts with three Ready nodes, of which the first is a control plane node, and a controller. */
  static async start(): Promise<ScheduledRelease> {
    const plane = await startControlPlane();
    const clock = new SystemClock();
    const { kubeScheduler, kubeControllerManager } = plane.binaries;
    const files = new Map([
      ['kube-scheduler', kubeScheduler],
      ['kube-controller-manager', kubeControllerManager],
    ] as const);
    const { kubeconfigFile } = plane;
    const programs = await WorkloadPrograms.start({ files, kubeconfigFile, folder: join(plane.folder, 'work'), clock });
    const api = makeKubeApi(await loadConnection({ kubeconfig: kubeconfigFile }), { qps: 1_000, burst: 2_000 });
    const nodes = nodeNames.map((name) => ({ name, labels: { 'kubernetes.io/hostname': name } }));
    const fleet = new HollowFleet({ nodes, api, clock, random: new SeededRandom(1), logger: silentLogger, profile });
    const ending = new AbortController();
    const running = fleet.run(ending.signal);
    const release = new ScheduledRelease(plane, programs, fleet, async () => {
      ending.abort();
      await running;
      await api.close();
    });
    release.startController();
    await release.untilNodesAreUntainted();
    await release.kubectl('label', 'node', 'n-0', 'node-role.kubernetes.io/control-plane=');
    await release.kubectl('taint', 'node', 'n-0', 'node-role.kubernetes.io/control-plane:NoSchedule');
    await release.apply(namespaceObjects());
    return release;
  }

  async stop(): Promise<void> {
    await this.#controller?.kill();
    await this.#stopFleet();
    await this.#programs.stop();
    await this.#plane.stop();
  }

  startController(): void {
    const flags = [`--node-monitor-grace-period=${graceSeconds}s`, '--node-monitor-period=1s', '--leader-elect=false'];
    this.#controller = NlcProcess.controller(this.#plane.kubeconfigFile, ...flags);
  }

  async stopController(): Promise<void> {
    await this.#controller?.terminate();
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#plane.kubectl(args);
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  async apply(objects: readonly object[]): Promise<void> {
    const { code, stderr } = await this.#plane.kubectl(['apply', '--server-side', '--filename=-'], yamlOf(objects));
    assert.equal(code, 0, stderr);
  }

  /** Replaces the release by one with these values. */
  async install(values: string): Promise<void> {
    const objects = renderChart({ values });
    const kind = objects.some((object) => object.kind === 'DaemonSet') ? 'daemonset' : 'deployment';
    this.#workload = `${kind}/node-lifecycle-controller`;
    await this.kubectl('delete', 'deployments,daemonsets', '--all', `--namespace=${namespace}`);
    await waitUntil('no pods', soon, async () => (await this.pods()).length === 0);
    await this.apply(objects.map(withoutProbes));
  }

  /** All pods of the release, also those that are being deleted. */
  pods(): Promise<readonly Pod[]> {
    return this.#list<Pod>(`/api/v1/namespaces/${namespace}/pods`);
  }

  /** Those that are not being deleted. */
  async stayingPods(): Promise<readonly Pod[]> {
    return (await this.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  nodes(): Promise<readonly Node[]> {
    return this.#list<Node>('/api/v1/nodes');
  }

  /** Deletes the pods of the release, as a drain of all nodes does, and returns their names. */
  async deletePods(): Promise<ReadonlySet<string | undefined>> {
    const names = (await this.pods()).map(({ metadata }) => metadata.name);
    await this.kubectl('delete', 'pods', '--all', '--wait=false', `--namespace=${namespace}`);
    return new Set(names);
  }

  /** Waits until `count` pods, and no others, are ready on these nodes, and returns the names of their nodes. */
  async untilReady(
    count: number,
    options: { readonly on?: readonly string[]; readonly isWanted?: (pod: Pod) => boolean } = {},
  ): Promise<readonly string[]> {
    const { on = nodeNames, isWanted = () => true } = options;
    let found: readonly Pod[] = [];
    await waitUntil(`${count} ready pods on ${on.join()}`, soon, async () => {
      assert.equal(this.#programs.failure(), undefined);
      found = (await this.stayingPods()).filter((pod) => on.includes(pod.spec?.nodeName ?? ''));
      return found.length === count && found.every((pod) => isReady(pod) && isWanted(pod));
    });
    return found.map(({ spec }) => spec?.nodeName ?? '');
  }

  /** Begins a rollout; the pods of the new version are those that the result accepts. */
  async roll(version: string): Promise<(pod: Pod) => boolean> {
    const template = { metadata: { annotations: { version } } };
    const patch = JSON.stringify({ spec: { template } });
    await this.kubectl('patch', this.#workload, `--namespace=${namespace}`, `--patch=${patch}`);
    return ({ metadata }) => metadata.annotations?.['version'] === version;
  }

  async untilNodesAreUntainted(): Promise<void> {
    await waitUntil('nodes without node.kubernetes.io taints', soon, async () => {
      const nodes = await this.nodes();
      const taints = nodes.flatMap(({ spec }) => spec?.taints ?? []);
      return nodes.length === nodeNames.length && !taints.some(({ key }) => key.startsWith('node.kubernetes.io/'));
    });
  }

  async #list<T>(path: string): Promise<readonly T[]> {
    return (await this.#client.must<Listed<T>>('GET', path)).items;
  }
}

/** The pods do not run the program, so they are ready as soon as they start. */
function withoutProbes(object: KubeManifest): object {
  const text = JSON.stringify(object, (key, value: unknown) => (key.endsWith('Probe') ? undefined : value));
  return JSON.parse(text) as object;
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}
