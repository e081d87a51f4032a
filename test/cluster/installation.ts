// How the controller gets into the cluster and out of it, by the commands of docs/install.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedCommand, type RunCommand } from './documented-commands.ts';
import type { RealCluster } from './machine/real-cluster.ts';
import type { NodeName } from './machine/settings.ts';

const root = join(import.meta.dirname, '..', '..');
const replaced = ['node-lifecycle-controller', 'taint-eviction-controller'] as const;

const installedKinds =
  'deployment,daemonset,poddisruptionbudget,networkpolicy,configmap,service,serviceaccount,role,rolebinding,clusterrole,clusterrolebinding';

/** Modes of docs/install.md. */
export type Mode = 'shadow' | 'evictor-only' | 'replace';

export class Installation {
  readonly #cluster: RealCluster;

  constructor(cluster: RealCluster) {
    this.#cluster = cluster;
  }

  /** Runs a command of the document as it is written there, at the operator's desk. */
  async run(command: RunCommand, values: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.#cluster.atDesk(documentedCommand(command, values), root);
  }

  async helm(mode: Mode): Promise<void> {
    await this.run('install with helm', { 'mode=shadow': `mode=${mode}` });
  }

  /** Everything that `from` brought, and what the controller itself wrote. */
  async uninstall(from: 'uninstall the release' | 'delete install.yaml'): Promise<void> {
    await this.run(from);
    await this.run('delete the lease');
    await this.run('delete the canary lease');
  }

  /** Runs a command of the document as root on a node. */
  async runOn(node: NodeName, command: RunCommand): Promise<string> {
    const line = `PATH=/run/bin:$PATH; cd ${root}; ${documentedCommand(command)}`;
    return this.#cluster.nodes[node].run('sh', '-euc', line);
  }

  /** Names of objects of the controller but its pods, however they were installed. */
  async objects(): Promise<readonly string[]> {
    const selector = 'app.kubernetes.io/name=node-lifecycle-controller';
    const args = ['--all-namespaces', '--selector', selector, '--output', 'name'];
    return lines(await this.#cluster.kubectl('get', installedKinds, ...args));
  }

  /** Names of objects of a kustomization. */
  async objectsOf(folder: string): Promise<readonly string[]> {
    const args = ['--kustomize', folder, '--dry-run=client', '--output', 'name'];
    return lines(await this.#cluster.kubectl('create', ...args)).filter((name) => !name.startsWith('namespace/'));
  }

  /** Restarts kube-controller-manager with another list of controllers, and waits until it starts those of the list. */
  async restartControllerManager(controllers: string): Promise<void> {
    const { controlPlane } = this.#cluster;
    if (controlPlane.controllers === controllers) return;
    controlPlane.controllers = controllers;
    await controlPlane.stop('kube-controller-manager');
    controlPlane.start('kube-controller-manager');
    for (const name of replaced) {
      const wanted = controllers.includes(`-${name}`) ? 'Warning: controller is disabled' : 'Controller starting...';
      const says = `"${wanted}" controller="${name}"`;
      await this.#cluster.until(`kube-controller-manager says: ${says}`, async () => this.#lastStart().includes(says));
    }
  }

  /** What kube-controller-manager logged since its last start. */
  #lastStart(): string {
    const log = readFileSync(this.#cluster.controlPlane.logOf('kube-controller-manager'), 'utf8');
    return log.split('FLAG: --controllers=').at(-1) ?? '';
  }
}

function lines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}
