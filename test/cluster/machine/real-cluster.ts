// A Kubernetes cluster on this machine: etcd, kube-apiserver, kube-scheduler and kube-controller-manager in a network namespace, and three
// nodes with namespaces of their own, joined by a bridge. Nothing is added to the machine's own network.
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from './api-client.ts';
import { makeCertificates } from './certificates.ts';
import { ClusterNode } from './cluster-node.ts';
import { ControlPlane } from './control-plane.ts';
import { HollowNodes } from './hollow-nodes.ts';
import { writeImageArchive } from './image-archive.ts';
import { pauseImage, podSubnet, workloadImage, writeNodeFiles } from './node-files.ts';
import { inNamespace, type ProgramResult, runProgram, tryProgram } from './run-program.ts';
import { addressOf, apiAddress, type ClusterSettings, namespaceOf, type NodeName, nodeNames } from './settings.ts';
import { Volumes } from './volumes.ts';

const readyMsMax = 120_000;

export class RealCluster {
  readonly settings: ClusterSettings;
  readonly controlPlane: ControlPlane;
  readonly hollowNodes: HollowNodes;
  readonly volumes: Volumes;
  readonly nodes: Readonly<Record<NodeName, ClusterNode>>;
  #api: ApiClient | undefined;
  /** Those of its names are its own, not those of another cluster of this prefix. */
  #hasNamespaces = false;

  constructor(settings: ClusterSettings, controllers: string) {
    mkdirSync(settings.folder, { recursive: true });
    this.settings = settings;
    this.controlPlane = new ControlPlane(settings, controllers);
    this.hollowNodes = new HollowNodes(settings);
    this.volumes = new Volumes(settings);
    const node = (name: NodeName): ClusterNode => new ClusterNode(name, settings);
    this.nodes = { n1: node('n1'), n2: node('n2'), n3: node('n3') };
  }

  get api(): ApiClient {
    if (this.#api === undefined) throw new Error('the cluster is not up');
    return this.#api;
  }

  /** Starts it, and waits until its nodes are registered. */
  async up(): Promise<void> {
    await makeCertificates(this.settings);
    await this.#makeNetwork();
    this.#writeCommands();
    this.controlPlane.start('etcd', 'kube-apiserver');
    await this.until(
      'the API server is ready',
      async () => (await this.tryKubectl('get', '--raw', '/readyz')).code === 0,
    );
    this.controlPlane.start('kube-scheduler', 'kube-controller-manager');
    await this.#bind('kubeadm:cluster-admins', 'cluster-admin', '--group=kubeadm:cluster-admins');
    await this.#bind('node-proxier', 'system:node-proxier', '--user=system:kube-proxy');
    this.#api = new ApiClient(this.settings);
    await this.#api.ready();
    const archives = await this.#ownImages();
    for (const name of nodeNames) await this.#bootFirst(this.nodes[name], archives);
    await this.until('three nodes are registered', async () => (await this.api.list('/api/v1/nodes')).length === 3);
  }

  async #bootFirst(node: ClusterNode, archives: readonly string[]): Promise<void> {
    writeNodeFiles(this.settings, node.name);
    await node.boot();
    for (const archive of archives) await node.importImage(archive);
  }

  async #ownImages(): Promise<readonly string[]> {
    const wanted = { pause: pauseImage, workload: workloadImage };
    const files: string[] = [];
    for (const [program, name] of Object.entries(wanted)) {
      const file = join(this.settings.folder, `${program}.tar`);
      await writeImageArchive(join(this.settings.programs, program), name, file);
      files.push(file);
    }
    return files;
  }

  /** Ends everything that was started, in whatever state it is. */
  async down(): Promise<void> {
    this.#api?.close();
    await this.hollowNodes.stop();
    await this.volumes.stop();
    for (const node of Object.values(this.nodes)) await node.remove();
    await this.controlPlane.stopAll();
    if (!this.#hasNamespaces) return;
    for (const name of ['ops', 'cp', ...nodeNames, 'lan'] as const)
      await tryProgram('ip', ['netns', 'delete', namespaceOf(this.settings, name)]);
  }

  /** Undoes whatever a story left: power, cables, suspended and stopped programs. */
  async restore(): Promise<void> {
    const components = ['etcd', 'kube-apiserver', 'kube-scheduler', 'kube-controller-manager'] as const;
    for (const component of components) this.controlPlane.signal(component, 'SIGCONT');
    this.controlPlane.start(...components);
    await this.hollowNodes.stop();
    await this.volumes.stop();
    for (const node of Object.values(this.nodes)) await node.restore();
  }

  remove(): void {
    rmSync(this.settings.folder, { recursive: true, force: true });
  }

  /** Waits for a condition; an error if it takes longer than two minutes. */
  async until(what: string, isTrue: () => Promise<boolean>, msMax = readyMsMax): Promise<void> {
    const endMs = performance.now() + msMax;
    while (!(await isTrue().catch(() => false))) {
      if (performance.now() > endMs) throw new Error(`not within ${msMax / 1_000} s: ${what}`);
      await sleep(250);
    }
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    return runProgram(...this.#atDesk('kubectl', ['--kubeconfig', join(this.settings.folder, 'kubeconfig'), ...args]));
  }

  async tryKubectl(...args: readonly string[]): Promise<ProgramResult> {
    return tryProgram(...this.#atDesk('kubectl', ['--kubeconfig', join(this.settings.folder, 'kubeconfig'), ...args]));
  }

  /** Applies a manifest. */
  async apply(manifest: string): Promise<void> {
    const [program, args] = this.#atDesk('kubectl', [
      '--kubeconfig',
      join(this.settings.folder, 'kubeconfig'),
      'apply',
      '--filename',
      '-',
    ]);
    await runProgram(program, args, { input: manifest });
  }

  /** Runs a line of a shell at the operator's desk, where `kubectl` and `helm` are those of the cluster. */
  async atDesk(line: string, folder: string): Promise<string> {
    return runProgram('sh', ['-euc', line], { cwd: folder, env: this.#deskEnvironment });
  }

  async tryAtDesk(line: string, folder: string): Promise<ProgramResult> {
    return tryProgram('sh', ['-euc', line], { cwd: folder, env: this.#deskEnvironment });
  }

  /** The plugin of kubectl runs with the Node.js of this process. */
  get #deskEnvironment(): NodeJS.ProcessEnv {
    const path = [join(this.settings.folder, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(':');
    return { ...process.env, PATH: path };
  }

  #atDesk(program: string, args: readonly string[]): readonly [string, string[]] {
    return inNamespace(namespaceOf(this.settings, 'ops'), join(this.settings.programs, program), args);
  }

  /** For the operator's desk, and for a person. */
  #writeCommands(): void {
    const { folder, programs } = this.settings;
    const bin = join(folder, 'bin');
    mkdirSync(bin, { recursive: true });
    for (const name of ['kubectl', 'helm']) {
      const home = ['CACHE', 'CONFIG', 'DATA'].map((kind) => `HELM_${kind}_HOME=${join(folder, 'helm')}`).join(' ');
      const enter = `nsenter --net=/run/netns/${namespaceOf(this.settings, 'ops')}`;
      const text = `#!/bin/sh\nexport KUBECONFIG=${join(folder, 'kubeconfig')} ${home}\nexec ${enter} ${join(programs, name)} "$@"\n`;
      writeFileSync(join(bin, name), text);
      chmodSync(join(bin, name), 0o755);
    }
  }

  async #bind(name: string, role: string, subject: string): Promise<void> {
    await this.kubectl('create', 'clusterrolebinding', name, `--clusterrole=${role}`, subject);
  }

  async #makeNetwork(): Promise<void> {
    const { nodes } = this.settings.network;
    if (existsSync(`/run/netns/${namespaceOf(this.settings, 'lan')}`))
      throw new Error(`a cluster with the prefix ${this.settings.prefix} exists: use another --prefix, or remove it`);
    this.#hasNamespaces = true;
    await runProgram('ip', ['netns', 'add', namespaceOf(this.settings, 'lan')]);
    await this.#ip('lan', 'link set lo up');
    await this.#ip('lan', 'link add br0 type bridge');
    await this.#ip('lan', `address add ${nodes}.1/24 dev br0`);
    await this.#ip('lan', 'link set br0 up');
    await this.#join('cp', apiAddress(this.settings));
    await this.#join('ops', `${nodes}.3`);
    for (const node of nodeNames) await this.#join(node, addressOf(this.settings, node));
    for (const from of ['cp', ...nodeNames] as const)
      for (const to of nodeNames)
        if (from !== to)
          await this.#ip(from, `route add ${podSubnet(this.settings, to)} via ${addressOf(this.settings, to)}`);
  }

  /** A cable from the bridge to the only interface of a namespace. */
  async #join(name: NodeName | 'cp' | 'ops', address: string): Promise<void> {
    const namespace = namespaceOf(this.settings, name);
    await runProgram('ip', ['netns', 'add', namespace]);
    await this.#ip('lan', `link add port-${name} type veth peer name far-${name}`);
    await this.#ip('lan', `link set far-${name} netns /run/netns/${namespace} name eth0`);
    await this.#ip('lan', `link set port-${name} master br0 up`);
    for (const words of ['link set lo up', `address add ${address}/24 dev eth0`, 'link set eth0 up'])
      await this.#ip(name, words);
    await this.#ip(name, `route add default via ${this.settings.network.nodes}.1`);
  }

  async #ip(name: NodeName | 'cp' | 'ops' | 'lan', words: string): Promise<void> {
    await runProgram(...inNamespace(namespaceOf(this.settings, name), 'ip', words.split(' ')));
  }
}
