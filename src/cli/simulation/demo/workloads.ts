// A Deployment, whose pods kube-controller-manager makes and kube-scheduler places.
import type { PodView } from '../../../machinery/api/pod.ts';
import type { WorkloadPrograms } from '../programs/workload-programs.ts';
import type { DemoEnvironment } from './environment.ts';

export const webReplicas = 12;

const namespace = 'default';
const web = { namespace, name: 'web' };
const appLabel = 'demo.example.com/app';
const containers = [{ name: 'main', image: 'registry.example/main:1' }];
const neverAborted = new AbortController().signal;

/** Actions and reads of the scenes with workloads. */
export class Workloads {
  readonly #environment: DemoEnvironment;
  readonly #programs: WorkloadPrograms;
  #lost: readonly string[] = [];
  #problem: string | undefined;

  constructor(environment: DemoEnvironment, programs: WorkloadPrograms) {
    this.#environment = environment;
    this.#programs = programs;
  }

  /** The nodes that {@link cutOff} disconnected. */
  get lost(): readonly string[] {
    return this.#lost;
  }

  /** Why no expectation can be met any more: a program ended, or a request of the demo failed. */
  get problem(): string | undefined {
    return this.#programs.failure() ?? this.#problem;
  }

  create(): void {
    const matchLabels = { [appLabel]: web.name };
    const pod = { terminationGracePeriodSeconds: 1, containers };
    const template = { metadata: { labels: matchLabels }, spec: pod };
    const deployment = { metadata: web, spec: { replicas: webReplicas, selector: { matchLabels }, template } };
    this.#do(
      async () => void (await this.#environment.api.create('deployments', deployment, { signal: neverAborted })),
    );
  }

  /** Disconnects this many nodes on which pods of the Deployment run. */
  cutOff(nodes: number): void {
    this.#lost = [...new Set(this.pods().map(({ nodeName }) => nodeName))].sort().slice(0, nodes);
    this.#environment.fleet.cutOff(this.#lost);
  }

  reconnect(): void {
    this.#environment.fleet.reconnect(this.#lost);
  }

  deleteDeployment(): void {
    this.#do(async () => {
      const { api } = this.#environment;
      const { metadata } = await api.get('deployments', web, { signal: neverAborted });
      await api.delete('deployments', web, { uid: metadata.uid ?? '', signal: neverAborted });
    });
  }

  /** The pods of the Deployment, those that are being deleted included. */
  pods(): readonly PodView[] {
    return this.#environment.allPods().filter(({ labels }) => labels[appLabel] === web.name);
  }

  /** The pods of the Deployment that serve. */
  serving(): readonly PodView[] {
    return this.pods().filter(({ ready, terminating }) => ready === 'True' && !terminating);
  }

  #do(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      this.#problem = `deployments: ${error instanceof Error ? error.message : String(error)}`;
    });
  }
}
