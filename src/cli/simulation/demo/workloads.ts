// A Deployment and a Job, whose pods kube-controller-manager makes and kube-scheduler places.
import { ApiError } from '../../../machinery/api/api-error.ts';
import type { KubeObject } from '../../../machinery/api/meta.ts';
import type { PodView } from '../../../machinery/api/pod.ts';
import type { WorkloadPrograms } from '../programs/workload-programs.ts';
import type { DemoEnvironment } from './environment.ts';

export const webReplicas = 12;
export const jobCompletions = 3;

const namespace = 'default';
const web = { namespace, name: 'web' };
const job = { namespace, name: 'once' };
const appLabel = 'demo.example.com/app';
const containers = [{ name: 'main', image: 'registry.example/main:1' }];
const neverAborted = new AbortController().signal;

function templateOf({ name }: { readonly name: string }, over: object, annotations: object): object {
  const spec = { terminationGracePeriodSeconds: 1, containers, ...over };
  return { metadata: { labels: { [appLabel]: name }, annotations }, spec };
}

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
    const selector = { matchLabels: { [appLabel]: web.name } };
    const webSpec = { replicas: webReplicas, selector, template: templateOf(web, {}, {}) };
    this.#do('deployments', () => this.#create('deployments', { metadata: web, spec: webSpec }));
    const template = templateOf(job, { restartPolicy: 'Never' }, { 'hollow-kubelet/exit-after': '1s' });
    const jobSpec = { completions: jobCompletions, parallelism: jobCompletions, template };
    this.#do('jobs', () => this.#create('jobs', { metadata: job, spec: jobSpec }));
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
    this.#do('deployments', async () => {
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

  async jobSucceeded(): Promise<number> {
    try {
      const found: KubeObject & { readonly status?: { readonly succeeded?: number } } = await this.#environment.api.get(
        'jobs',
        job,
        { signal: neverAborted },
      );
      return found.status?.succeeded ?? 0;
    } catch (error) {
      if (error instanceof ApiError) return 0;
      throw error;
    }
  }

  async #create(resource: 'deployments' | 'jobs', object: KubeObject & { readonly spec: object }): Promise<void> {
    await this.#environment.api.create(resource, object, { signal: neverAborted });
  }

  #do(what: string, work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      this.#problem = `${what}: ${error instanceof Error ? error.message : String(error)}`;
    });
  }
}
