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
const recoveryTimeoutMs = 300_000;
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
    const { load, observer } = this;
    for (const episode of episodes) observer.end(episode);
    await load.resume(episodes.flatMap((episode) => [...episode.nodes]));
    const deadlineMs = performance.now() + recoveryTimeoutMs;
    while (!(await this.#settled())) {
      const unhealthy = [...observer.unhealthy()];
      await load.resume(unhealthy.filter(([, { ready }]) => ready !== 'True').map(([name]) => name));
      if (performance.now() < deadlineMs) continue;
      throw new Error(`${unhealthy.length} nodes have not recovered, such as ${JSON.stringify(unhealthy[0])}`);
    }
  }

  /** Whether all nodes are healthy; waits for it, but not longer than kubelets wait between two status posts. */
  async #settled(): Promise<boolean> {
    const deadlineMs = performance.now() + renewEveryMs;
    while (this.observer.unhealthy().size > 0 && performance.now() < deadlineMs) await sleep(recoveryPollMs);
    return this.observer.unhealthy().size === 0;
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
