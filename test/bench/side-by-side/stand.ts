// What stays the same for both controllers: the control plane, the nodes and pods with their load, and the observer.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlPlane, startControlPlane } from '../../control-plane/control-plane.ts';
import type { RestClient } from '../../control-plane/rest-client.ts';
import { buildNlc } from '../build-nlc.ts';
import type { Episode } from './episode.ts';
import { LoadProcess } from './load-process.ts';
import { Observer } from './observer.ts';
import type { Plan } from './plan.ts';
import { renewEveryMs } from './renewal-schedule.ts';

/** ServiceAccount: no token controller runs. TaintNodesByCondition would taint every node at its creation. */
const apiServerArgs = ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'];
const recoveryTimeoutMs = 120_000;
const recoveryPollMs = 100;

export class Stand implements AsyncDisposable {
  readonly plane: ControlPlane;
  readonly client: RestClient;
  readonly load: LoadProcess;
  readonly observer: Observer;
  readonly plan: Plan;
  /** The bundle of nlc. */
  readonly script: string;

  private constructor(options: Pick<Stand, 'plane' | 'client' | 'load' | 'observer' | 'plan' | 'script'>) {
    this.plane = options.plane;
    this.client = options.client;
    this.load = options.load;
    this.observer = options.observer;
    this.plan = options.plan;
    this.script = options.script;
  }

  /** Starts a control plane and registers the cluster; then all nodes renew their leases. */
  static async start(plan: Plan): Promise<Stand> {
    const plane = await startControlPlane({ apiServerArgs });
    const load = new LoadProcess();
    try {
      const target = { url: plane.url, ca: readFileSync(plane.caFile, 'utf8'), token: plane.adminToken };
      await load.register({ target, size: { nodes: plan.nodes, podsPerNode: plan.podsPerNode } });
      await load.run();
      const client = plane.client();
      const observer = await Observer.start(client);
      return new Stand({ plane, client, load, observer, plan, script: buildNlc(plane.folder) });
    } catch (error) {
      load.stop();
      await plane.stop();
      throw error;
    }
  }

  /**
   * Ends episodes: their nodes renew again, and the controller removes their taints. As kubelets do, a node that is still not
   * Ready after 10 s posts its status again; so does one that became Unknown although it renewed.
   */
  async recover(episodes: readonly Episode[]): Promise<void> {
    for (const episode of episodes) this.observer.end(episode);
    const deadlineMs = performance.now() + recoveryTimeoutMs;
    let nodes: readonly string[] = episodes.flatMap((episode) => [...episode.nodes]);
    while (nodes.length > 0) {
      await this.load.resume(nodes);
      await this.#settled();
      const unhealthy = this.observer.unhealthy();
      nodes = [...unhealthy.keys()];
      if (performance.now() > deadlineMs)
        throw new Error(`not recovered: ${JSON.stringify([...unhealthy].slice(0, 5))}`);
    }
  }

  /** Waits until all nodes are healthy, but not longer than kubelets wait between two status posts. */
  async #settled(): Promise<void> {
    const deadlineMs = performance.now() + renewEveryMs;
    while (this.observer.unhealthy().size > 0 && performance.now() < deadlineMs) await sleep(recoveryPollMs);
  }

  /** Process ids of everything that the bench itself runs, besides the controller. */
  get pids(): readonly number[] {
    const { etcd, apiServer } = this.plane.pids;
    return [process.pid, this.load.pid, etcd, apiServer].filter((pid) => pid !== undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.observer.stop();
    this.load.stop();
    await this.plane.stop();
  }
}
