// The cluster with a workload, and one of the two sets of controllers that act on it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installCommand } from './install-commands.ts';
import type { ApiObject } from './machine/api-client.ts';
import type { RealCluster } from './machine/real-cluster.ts';
import { type NodeName, nodeNames, otherControllers, withoutReplaced } from './machine/settings.ts';
import { isServing, nodeOf, readyOf, taintsOf, type Timeline } from './timeline.ts';

const root = join(import.meta.dirname, '..', '..');
const namespace = 'node-lifecycle-controller';
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/node-lifecycle-controller';

/** Who detects and evicts: this controller, or those of kube-controller-manager. */
export type Actor = 'node-lifecycle-controller' | 'kube-controller-manager';

export class Stage {
  readonly cluster: RealCluster;
  readonly timeline: Timeline;
  #actor: Actor | undefined;

  constructor(cluster: RealCluster, timeline: Timeline) {
    this.cluster = cluster;
    this.timeline = timeline;
  }

  /** Starts the workload, and waits until it runs. */
  async addWorkload(): Promise<void> {
    await this.cluster.apply(readFileSync(join(import.meta.dirname, 'workload.yaml'), 'utf8'));
  }

  /** Hands the cluster over, as docs/install.md says: the one that acts is started before the other one is stopped. */
  async use(actor: Actor): Promise<void> {
    if (this.#actor === actor) return;
    if (actor === 'node-lifecycle-controller') await this.#install();
    await this.#restartControllerManager(actor === 'node-lifecycle-controller' ? withoutReplaced : otherControllers);
    if (actor === 'kube-controller-manager')
      await this.cluster.kubectl('delete', 'namespace', namespace, '--ignore-not-found');
    this.#actor = actor;
  }

  /** The documented command, for the mode replace. */
  async #install(): Promise<void> {
    const command = installCommand('Helm', 'helm install').replace('--set mode=shadow', '--set mode=replace');
    await this.cluster.atDesk(
      'helm uninstall node-lifecycle-controller --namespace node-lifecycle-controller || true',
      root,
    );
    await this.cluster.atDesk(command, root);
    await this.#ledByCurrent();
  }

  async #restartControllerManager(controllers: string): Promise<void> {
    const { controlPlane } = this.cluster;
    controlPlane.controllers = controllers;
    await controlPlane.stop('kube-controller-manager');
    controlPlane.start('kube-controller-manager');
  }

  /** Identity of the replica that leads, which begins with the name of its pod; empty: none. */
  async leader(): Promise<string> {
    const lease = await this.cluster.api.get(leasePath);
    return String(lease['spec']?.holderIdentity ?? '');
  }

  /** A replica leads, and renewed its lease within the last seconds. */
  async isLed(): Promise<boolean> {
    const lease = await this.cluster.api.get(leasePath);
    const renewedMs = Date.parse(String(lease['spec']?.renewTime));
    return String(lease['spec']?.holderIdentity ?? '') !== '' && Date.now() - renewedMs < 5_000;
  }

  /** Nodes that were silent and recovered, by their boot ID, as all replicas counted them; empty with the in-tree controllers. */
  async recoveries(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    if (this.#actor !== 'node-lifecycle-controller') return counts;
    const pods = await this.cluster.api.list(`/api/v1/namespaces/${namespace}/pods`);
    for (const pod of pods.filter(isServing)) {
      const text = await this.#metricsOf(pod);
      for (const [, boot = '', count] of text.matchAll(
        /^node_lifecycle_recovered_nodes_total\{boot="(\w+)"\} (\d+)/gmu,
      ))
        counts.set(boot, (counts.get(boot) ?? 0) + Number(count));
    }
    return counts;
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
      const counted = (after.get(boot) ?? 0) - (before.get(boot) ?? 0);
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

  /** The same for a command of a document. */
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
  async rolledOut(): Promise<void> {
    await this.cluster.kubectl(
      'rollout',
      'status',
      `deployment/${namespace}`,
      '--namespace',
      namespace,
      '--timeout=180s',
    );
  }

  /** The node of the leading replica. */
  async leaderNode(): Promise<NodeName> {
    const pod = await this.#leaderPod();
    const node = nodeNames.find((name) => name === nodeOf(pod));
    if (node === undefined) throw new Error(`the leader ${pod.metadata.name} is on no node of the cluster`);
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
    const pods = await this.cluster.api.list(`/api/v1/namespaces/${namespace}/pods`);
    return pods.filter(isServing).map((pod) => nodeOf(pod) as NodeName);
  }

  node(name: NodeName): ApiObject | undefined {
    return this.timeline.nodes.get(name);
  }

  isUnknown(name: NodeName): boolean {
    return readyOf(this.node(name)) === 'Unknown';
  }

  isTainted(name: NodeName): boolean {
    return taintsOf(this.node(name)).some((taint) => taint.endsWith(':NoExecute'));
  }

  isWell(name: NodeName): boolean {
    return readyOf(this.node(name)) === 'True' && taintsOf(this.node(name)).length === 0;
  }

  /** Pods of an app that serve, on other nodes than this. */
  servingBeside(app: string, node: NodeName): number {
    return this.timeline.podsOf(app).filter((pod) => isServing(pod) && nodeOf(pod) !== node).length;
  }

  /** Every node is well, and the workload is spread over all nodes again. */
  async reset(): Promise<void> {
    await this.timeline.when('all nodes are well', 180, () => nodeNames.every((name) => this.isWell(name)));
    await this.cluster.kubectl('rollout', 'restart', '--namespace', 'shop', 'deployment/web', 'statefulset/db');
    for (const each of ['deployment/web', 'statefulset/db'])
      await this.cluster.kubectl('rollout', 'status', each, '--namespace', 'shop', '--timeout=180s');
    const isWhole = (): boolean =>
      this.timeline.podsOf('web').filter(isServing).length === 4 && this.timeline.podsOf('web').length === 4;
    await this.timeline.when('the workload runs', 120, isWhole);
  }
}
