// The cluster with a workload, and one of the two sets of controllers that act on it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Installation } from './installation.ts';
import type { ApiObject } from './machine/api-client.ts';
import type { RealCluster } from './machine/real-cluster.ts';
import { type NodeName, nodeNames, otherControllers, withoutReplaced } from './machine/settings.ts';
import type { Times } from './stories/story.ts';
import { isServing, nodeOf, readyOf, taintsOf, type Timeline } from './timeline.ts';

const root = join(import.meta.dirname, '..', '..');
const namespace = 'node-lifecycle-controller';
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/node-lifecycle-controller';

/** Who detects and evicts: this controller, or those of kube-controller-manager. */
export type Actor = 'node-lifecycle-controller' | 'kube-controller-manager';

export class Stage {
  readonly cluster: RealCluster;
  readonly timeline: Timeline;
  readonly installation: Installation;
  #actor: Actor | undefined;

  constructor(cluster: RealCluster, timeline: Timeline) {
    this.cluster = cluster;
    this.timeline = timeline;
    this.installation = new Installation(cluster);
  }

  /** Starts the workload, and waits until it runs. */
  async addWorkload(): Promise<void> {
    await this.cluster.apply(readFileSync(join(import.meta.dirname, 'workload.yaml'), 'utf8'));
  }

  /** Hands the cluster over, as docs/install.md says: the one that acts is started before the other one is stopped. */
  async use(actor: Actor): Promise<void> {
    if (this.#actor === actor) return;
    if (actor === 'node-lifecycle-controller') await this.#install();
    const controllers = actor === 'node-lifecycle-controller' ? withoutReplaced : otherControllers;
    await this.installation.restartControllerManager(controllers);
    if (actor === 'kube-controller-manager') await this.#uninstall();
    this.#actor = actor;
  }

  /** The documented command, for the mode replace. */
  async #install(): Promise<void> {
    await this.#uninstall();
    await this.installation.helm('replace');
    await this.#ledByCurrent();
  }

  /** Removes what is installed, by the documented commands for the way in which it was. */
  async #uninstall(): Promise<void> {
    const releases = await this.cluster.atDesk(`helm list --all --short --namespace ${namespace}`, root);
    if (releases.includes(namespace)) await this.installation.uninstall('uninstall the release');
    else if ((await this.installation.objects()).length > 0) await this.installation.uninstall('delete install.yaml');
  }

  /** Undoes what a story that failed left: faults of machines, and another installation. */
  async restore(): Promise<void> {
    await this.cluster.restore();
    this.#actor = undefined;
  }

  /** Identity of the replica that leads, which begins with the name of its pod; empty: none. */
  async leader(): Promise<string> {
    const lease = await this.cluster.api.get(leasePath);
    return String(lease['spec']?.holderIdentity ?? '');
  }

  /** The leader, and how often it changed. */
  async leadership(): Promise<string> {
    const { spec } = await this.cluster.api.get(leasePath);
    return `${spec?.holderIdentity} (${spec?.leaseTransitions} transitions)`;
  }

  /** A replica leads, and renewed its lease within the last seconds. */
  async isLed(): Promise<boolean> {
    const lease = await this.cluster.api.get(leasePath);
    const renewedMs = Date.parse(String(lease['spec']?.renewTime));
    return String(lease['spec']?.holderIdentity ?? '') !== '' && Date.now() - renewedMs < 5_000;
  }

  /** Nodes that were silent and recovered, as each replica counted them by boot ID (`POD BOOT`); empty with the in-tree controllers. */
  async recoveries(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    if (this.#actor !== 'node-lifecycle-controller') return counts;
    for (const pod of (await this.controllerPods()).filter(isServing)) {
      const text = await this.#metricsOf(pod);
      for (const [, boot = '', count] of text.matchAll(
        /^node_lifecycle_recovered_nodes_total\{boot="(\w+)"\} (\d+)/gmu,
      ))
        counts.set(`${pod.metadata.name} ${boot}`, Number(count));
    }
    return counts;
  }

  /** The value of a metric of the leading replica, with its labels as they are written; undefined: it has none. */
  async leaderMetric(name: string): Promise<number | undefined> {
    const line = (await this.#metricsOf(await this.#leaderPod()))
      .split('\n')
      .find((each) => each.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  }

  /** CPU and memory of the leading replica's process since its start, as its metrics have them. */
  async leaderUse(): Promise<{ readonly cpuSeconds: number; readonly residentMegabytes: number }> {
    const text = await this.#metricsOf(await this.#leaderPod());
    const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)`, 'mu').exec(text)?.[1]);
    return {
      cpuSeconds: value('process_cpu_seconds_total'),
      residentMegabytes: Math.round(value('process_resident_memory_bytes') / 1e6),
    };
  }

  /** Read on the node of the pod: the pages answer no proxy. */
  async #metricsOf(pod: ApiObject): Promise<string> {
    const url = `http://${pod['status']?.podIP}:8080/metrics`;
    const script = `process.stdout.write(await (await fetch(${JSON.stringify(url)})).text())`;
    const node = this.cluster.nodes[nodeOf(pod) as NodeName];
    return node.run(process.execPath, '--input-type=module', '--eval', script);
  }

  /** Exactly so many more nodes recovered, by their boot ID; an error if the counters say otherwise. */
  async expectRecoveries(before: ReadonlyMap<string, number>, more: Readonly<Record<string, number>>): Promise<void> {
    if (this.#actor !== 'node-lifecycle-controller') return;
    const after = await this.recoveries();
    for (const boot of ['same', 'changed', 'unknown']) {
      const ofBoot = [...after].filter(([key]) => key.endsWith(` ${boot}`));
      const counted = ofBoot.reduce((sum, [key, count]) => sum + increase(before.get(key) ?? 0, count), 0);
      if (counted !== (more[boot] ?? 0))
        throw new Error(`${counted} recoveries with boot ID ${boot}, not ${more[boot] ?? 0}`);
    }
  }

  /** `helm upgrade` or `rollback` of the release, and waits until its pods are replaced. */
  async helm(verb: 'upgrade' | 'rollback', ...args: readonly string[]): Promise<void> {
    const chart = verb === 'upgrade' ? ['charts/node-lifecycle-controller'] : [];
    const words = ['helm', verb, namespace, ...chart, '--namespace', namespace, ...args];
    await this.cluster.atDesk(words.join(' '), root);
  }

  /** Does something while the release has these values, and rolls back, whatever ends it. */
  async withValues<T>(values: readonly string[], act: () => Promise<T>): Promise<T> {
    const set = values.map((value) => `--set ${value}`).join(' ');
    const command = `helm upgrade ${namespace} charts/node-lifecycle-controller --namespace ${namespace} --reuse-values ${set}`;
    return this.withUpgrade(command, act);
  }

  /** Does something after an upgrade by this command, and rolls back, whatever ends it. */
  async withUpgrade<T>(command: string, act: () => Promise<T>): Promise<T> {
    const shown = await this.cluster.atDesk(
      `helm history ${namespace} --namespace ${namespace} --max 1 --output json`,
      root,
    );
    const [{ revision }] = JSON.parse(shown) as [{ readonly revision: number }];
    try {
      await this.cluster.atDesk(command, root);
      await this.#ledByCurrent();
      return await act();
    } finally {
      await this.helm('rollback', String(revision));
      await this.#ledByCurrent();
    }
  }

  async #ledByCurrent(): Promise<void> {
    await this.rolledOut();
    await this.cluster.until('a replica leads', async () => this.isLed());
  }

  /** Every pod of the controller has its current settings. */
  async rolledOut(kind: 'deployment' | 'daemonset' = 'deployment'): Promise<void> {
    const target = `${kind}/${namespace}`;
    await this.cluster.kubectl('rollout', 'status', target, '--namespace', namespace, '--timeout=180s');
  }

  /** Replaces the pods of the controller without a change. */
  async restart(): Promise<void> {
    await this.installation.run('restart the pods');
    await this.rolledOut();
  }

  /** Works while a node is dead and its pods are replaced; fails if the node does not stay Unknown, or a pod of it is not replaced at the end. */
  async withDeadNode(node: NodeName, work: () => Promise<Times>): Promise<Times> {
    const { timeline } = this;
    timeline.mark(`the cable of ${node} is out`);
    await this.cluster.nodes[node].cable('out');
    await timeline.when('Unknown', 90, () => this.isUnknown(node));
    await timeline.when('4 of 4 serve', 120, () => this.servingBeside('web', node) === 4);
    let times: Times = {};
    const cameToLife = await timeline.everWhile(
      () => !this.isUnknown(node),
      async () => void (times = await work()),
    );
    if (cameToLife) throw new Error(`${node}, which is dead, did not stay Unknown`);
    await timeline.when('4 of 4 serve still', 60, () => this.servingBeside('web', node) === 4);
    timeline.mark(`the cable of ${node} is in`);
    await this.cluster.nodes[node].cable('in');
    const well = await timeline.when('Ready without taints', 90, () => this.isWell(node));
    return { ...times, well };
  }

  /** The node of the leading replica. */
  async leaderNode(): Promise<NodeName> {
    const host = (await this.leader()).split('_')[0] ?? '';
    // A pod on the network of its node has the name of its node as its host's.
    const on = (await this.controllerPods()).find(({ metadata }) => metadata.name === host);
    const node = nodeNames.find((name) => name === (on === undefined ? host : nodeOf(on)));
    if (node === undefined) throw new Error(`the leader ${host} is on no node of the cluster`);
    return node;
  }

  /** The IP address of the leading replica. */
  async leaderAddress(): Promise<string> {
    return String((await this.#leaderPod())['status']?.podIP);
  }

  async #leaderPod(): Promise<ApiObject> {
    const pod = (await this.leader()).split('_')[0] ?? '';
    return this.cluster.api.get(`/api/v1/namespaces/${namespace}/pods/${pod}`);
  }

  /** Replicas of the controller that are ready, with their nodes. */
  async replicas(): Promise<readonly NodeName[]> {
    return (await this.controllerPods()).filter(isServing).map((pod) => nodeOf(pod) as NodeName);
  }

  /** Pods of the controller, however they were installed. */
  async controllerPods(): Promise<readonly ApiObject[]> {
    return this.cluster.api.list(`/api/v1/pods?labelSelector=app.kubernetes.io%2Fname%3D${namespace}`);
  }

  /** Seconds since the last heartbeat of a node: by so much its grace period began before a fault of now. */
  async heartbeatAge(name: NodeName): Promise<number> {
    const nowMs = Date.now();
    const lease = await this.cluster.api.get(`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`);
    return Math.round((nowMs - Date.parse(String(lease['spec']?.renewTime))) / 100) / 10;
  }

  node(name: NodeName): ApiObject | undefined {
    return this.timeline.nodes.get(name);
  }

  isUnknown(name: NodeName): boolean {
    return readyOf(this.node(name)) === 'Unknown';
  }

  isReady(name: NodeName): boolean {
    return readyOf(this.node(name)) === 'True';
  }

  isTainted(name: NodeName): boolean {
    return taintsOf(this.node(name)).some((taint) => taint.endsWith(':NoExecute'));
  }

  /** Whether it has the taint with this key, whatever the effect. */
  hasTaint(name: NodeName, key: string): boolean {
    return taintsOf(this.node(name)).some((taint) => taint.startsWith(`${key.split('/').at(-1)}:`));
  }

  isWell(name: NodeName): boolean {
    return readyOf(this.node(name)) === 'True' && taintsOf(this.node(name)).length === 0;
  }

  areAllWell(): boolean {
    return nodeNames.every((name) => this.isWell(name));
  }

  /** Pods of an app that serve, on other nodes than this. */
  servingBeside(app: string, node: NodeName): number {
    return this.timeline.podsOf(app).filter((pod) => isServing(pod) && nodeOf(pod) !== node).length;
  }

  /** Every node is well, and the replicas and the workload are spread over all nodes again. */
  async reset(): Promise<void> {
    await this.timeline.when('all nodes are well', 180, () => this.areAllWell());
    const replicas = await this.replicas();
    if (new Set(replicas).size < replicas.length) await this.restart();
    await this.cluster.kubectl('rollout', 'restart', '--namespace', 'shop', 'deployment/web', 'statefulset/db');
    for (const each of ['deployment/web', 'statefulset/db'])
      await this.cluster.kubectl('rollout', 'status', each, '--namespace', 'shop', '--timeout=180s');
    const isWhole = (): boolean =>
      this.timeline.podsOf('web').filter(isServing).length === 4 && this.timeline.podsOf('web').length === 4;
    await this.timeline.when('the workload runs', 120, isWhole);
  }
}

/** A container that was started again counts from 0. */
function increase(before: number, after: number): number {
  return after < before ? after : after - before;
}
