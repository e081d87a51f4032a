// Volumes that are attached: a CSI driver of the cluster's own, and external-attacher. Both are built from the module in `volumes`.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterNode } from './cluster-node.ts';
import { buildOnce } from './programs.ts';
import { inNamespace, runProgram } from './run-program.ts';
import { type ClusterSettings, namespaceOf } from './settings.ts';

const moduleFolder = join(import.meta.dirname, '..', 'volumes');
const packages = {
  'volume-driver': '.',
  'csi-attacher': 'github.com/kubernetes-csi/external-attacher/v4/cmd/csi-attacher',
} as const;
type Program = keyof typeof packages;

/** Sockets on a node: of the driver, and the one by which the kubelet finds it. */
const driverSocket = '/var/lib/kubelet/plugins/volumes.cluster.local/csi.sock';
const registrationSocket = '/var/lib/kubelet/plugins_registry/volumes.cluster.local-reg.sock';

export class Volumes {
  readonly #settings: ClusterSettings;
  readonly #running = new Set<ChildProcess>();

  constructor(settings: ClusterSettings) {
    this.#settings = settings;
  }

  /** Folder of all volumes, and of the socket of the driver that attaches. */
  get #folder(): string {
    return join(this.#settings.folder, 'volumes');
  }

  /** Attaches and detaches volumes, beside the control plane. Builds what is missing, which takes minutes. */
  async start(): Promise<void> {
    mkdirSync(this.#folder, { recursive: true });
    const socket = join(this.#folder, 'driver.sock');
    this.#spawn('volume-driver', await this.#build('volume-driver'), [
      `--folder=${this.#folder}`,
      `--socket=${socket}`,
    ]);
    const kubeconfig = join(this.#settings.folder, 'kubeconfig');
    const flags = [`--csi-address=${socket}`, `--kubeconfig=${kubeconfig}`, '--timeout=10s', '--v=4'];
    this.#spawn('csi-attacher', await this.#build('csi-attacher'), flags);
  }

  /** Mounts volumes on a node until its power is cut, as the pod of a DaemonSet would. */
  async mountOn(node: ClusterNode): Promise<void> {
    const flags = [`--folder=${this.#folder}`, `--socket=${driverSocket}`, `--registration=${registrationSocket}`];
    await node.start('volume-driver', await this.#build('volume-driver'), [...flags, `--node=${node.name}`]);
  }

  /** The kubelet sees that its socket is gone. */
  async mountNoMoreOn(node: ClusterNode): Promise<void> {
    await node.stop('volume-driver');
    await node.try('rm', '-f', registrationSocket, driverSocket);
  }

  /** Nothing attaches and detaches any longer. */
  async stop(): Promise<void> {
    const ends = [...this.#running].map((child) => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      return ended;
    });
    await Promise.all(ends);
  }

  #spawn(name: Program, file: string, flags: readonly string[]): void {
    const log = openSync(join(this.#settings.folder, 'control-plane', `${name}.log`), 'a');
    const [program, args] = inNamespace(namespaceOf(this.#settings, 'cp'), file, flags);
    const child = spawn(program, args, { stdio: ['ignore', log, log] });
    closeSync(log);
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
  }

  async #build(program: Program): Promise<string> {
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' };
    return buildOnce(join(this.#settings.programs, `${program}-${hashOfModule()}`), async (unfinished) => {
      const args = ['build', '-trimpath', '-ldflags=-s -w', '-o', unfinished, packages[program]];
      await runProgram('go', args, { cwd: moduleFolder, env });
    });
  }
}

function hashOfModule(): string {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(moduleFolder, name)));
  return hash.digest('hex').slice(0, 16);
}
