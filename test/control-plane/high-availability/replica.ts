// One replica as a Deployment runs it, with its own user, so that the audit log identifies it, and its own proxy to the API
// server, so that it can be cut off.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FreezingProxy } from '../../support/freezing-proxy.ts';
import { NlcProcess } from '../../support/nlc-process.ts';
import type { ControlPlane } from '../control-plane.ts';
import { kubeconfigText } from '../../../src/cli/simulation/programs/control-plane-credentials.ts';
import { waitUntil } from '../wait-until.ts';
import { controllerArgs } from './settings.ts';

const soon = { timeoutMs: 60_000 };

export class Replica {
  readonly user: string;
  readonly process: NlcProcess;
  readonly way: FreezingProxy;

  private constructor(user: string, process: NlcProcess, way: FreezingProxy) {
    this.user = user;
    this.process = process;
    this.way = way;
  }

  /** Starts the replica and waits until it is ready, as a rolling update does. */
  static async start(plane: ControlPlane, user: string): Promise<Replica> {
    const way = await FreezingProxy.start(plane.url);
    const kubeconfig = join(plane.folder, `${user}.kubeconfig`);
    const context = { url: way.url, ca: readFileSync(plane.caFile, 'utf8'), token: plane.tokenOf(user) };
    writeFileSync(kubeconfig, kubeconfigText(context), { mode: 0o600 });
    const addresses = ['--metrics-bind-address=0', '--health-probe-bind-address=127.0.0.1:0', '--log-format=json'];
    const process = new NlcProcess(['controller', `--kubeconfig=${kubeconfig}`, ...addresses, ...controllerArgs]);
    const replica = new Replica(user, process, way);
    await replica.#ready();
    return replica;
  }

  get leads(): boolean {
    return !this.process.hasEnded && this.said('leading');
  }

  said(message: string): boolean {
    return this.process.stderr.includes(`"msg":"${message}"`);
  }

  async stop(): Promise<void> {
    if (!this.process.hasEnded) {
      this.process.signal('SIGCONT');
      await this.process.kill();
    }
    await this.way.stop();
  }

  async #ready(): Promise<void> {
    await waitUntil(`${this.user} ready`, soon, async () => {
      if (this.process.hasEnded) throw new Error(`${this.user} ended: ${this.process.stderr}`);
      const port = /"port":(\d+)[^\n]*"serving \/livez and \/readyz"/.exec(this.process.stderr)?.[1];
      if (port === undefined) return undefined;
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      return answer.ok;
    });
  }
}
