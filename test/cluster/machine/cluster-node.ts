import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeControlGroups, removeControlGroup, removeEmptyGroup } from './control-groups.ts';
import { inNamespace, type ProgramResult, runProgram, tryProgram } from './run-program.ts';
import { addressOf, type ClusterSettings, namespaceOf, nodeFolder, type NodeName, zones } from './settings.ts';

/** What runs on a node, and is started again a second after it ended. */
export type Daemon = 'kubelet' | 'containerd' | 'kube-proxy';

const bootMsMax = 60_000;

/** A node: namespaces with a process 1. Its end is a power failure; the port of the bridge is its cable. */
export class ClusterNode {
  readonly name: NodeName;
  readonly #settings: ClusterSettings;
  #groups: readonly string[] = [];
  #processOne: number | undefined;

  constructor(name: NodeName, settings: ClusterSettings) {
    this.name = name;
    this.#settings = settings;
  }

  get #folder(): string {
    return nodeFolder(this.#settings, this.name);
  }

  /** Starts process 1, and waits until the daemons are started. Each boot has a boot ID of its own. */
  async boot(): Promise<void> {
    if (this.#processOne !== undefined) throw new Error(`node ${this.name} runs`);
    const { folder, programs, prefix } = this.#settings;
    this.#groups = makeControlGroups(prefix, this.name);
    const script = join(import.meta.dirname, 'process-one.sh');
    const zone = zones[this.name];
    const own = [script, folder, programs, this.name, addressOf(this.#settings, this.name), zone];
    const unshare = [
      '--mount',
      '--uts',
      '--ipc',
      '--cgroup',
      '--pid',
      '--fork',
      '--kill-child=KILL',
      '--propagation',
      'private',
    ];
    const [nsenter, args] = inNamespace(namespaceOf(this.#settings, this.name), 'unshare', [...unshare, ...own]);
    const enter = 'for each in $GROUPS_OF_NODE; do echo $$ > "$each/cgroup.procs"; done; exec "$@"';
    const log = openSync(join(this.#folder, 'process-one.log'), 'a');
    const parent = spawn('sh', ['-c', enter, '-', nsenter, ...args], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, GROUPS_OF_NODE: this.#groups.join(' ') },
    });
    closeSync(log);
    parent.unref();
    this.#processOne = await this.#firstChildOf(parent.pid ?? 0);
    writeFileSync(join(this.#folder, 'process-one.pid'), `${this.#processOne}\n`);
    await this.#until(async () => (await this.try('test', '-e', '/run/booted')).code === 0, 'to boot');
  }

  /** `unshare` forks process 1. */
  async #firstChildOf(parent: number): Promise<number> {
    let child = NaN;
    await this.#until(async () => {
      const path = `/proc/${parent}/task/${parent}/children`;
      const [first] = existsSync(path) ? readFileSync(path, 'utf8').trim().split(' ') : [];
      child = first === undefined || first === '' ? NaN : Number(first);
      return !Number.isNaN(child) && isRunning(child, 'process-one');
    }, 'to start its process 1');
    return child;
  }

  async #until(isDone: () => Promise<boolean>, what: string): Promise<void> {
    const endMs = performance.now() + bootMsMax;
    while (!(await isDone())) {
      if (performance.now() > endMs)
        throw new Error(`node ${this.name} did not get ${what}: see ${this.#folder}/process-one.log`);
      await sleep(50);
    }
  }

  /** Kills process 1, and with it everything on the node at once. No component is notified. */
  async powerOff(): Promise<void> {
    const pid = this.#processOne;
    if (pid === undefined) return;
    this.#processOne = undefined;
    process.kill(pid, 'SIGKILL');
    while (existsSync(`/proc/${pid}`)) await sleep(50);
  }

  /** It has power and its cable, and no daemon is suspended or held. */
  async restore(): Promise<void> {
    await this.cable('in');
    if (this.#processOne === undefined) return this.boot();
    for (const daemon of ['kubelet', 'containerd', 'kube-proxy'] as const) {
      await this.release(daemon);
      await this.try('sh', '-c', `kill -CONT $(cat /run/${daemon}.pid)`);
    }
  }

  /** Powers off, and removes its control groups; the last node those of the cluster too. */
  async remove(): Promise<void> {
    await this.powerOff();
    for (let attempt = 0; attempt < 20 && this.#groups.some((group) => existsSync(group)); attempt += 1) {
      for (const group of this.#groups) removeControlGroup(group);
      await sleep(100);
    }
    for (const group of this.#groups) removeEmptyGroup(dirname(group));
  }

  /** Its only network interface: out, the node sees its carrier go. */
  async cable(state: 'in' | 'out'): Promise<void> {
    const [nsenter, args] = inNamespace(namespaceOf(this.#settings, 'lan'), 'ip', [
      'link',
      'set',
      `port-${this.name}`,
      state === 'in' ? 'up' : 'down',
    ]);
    await runProgram(nsenter, args);
  }

  /** Sends a signal to a daemon. It is started again if it ends, unless it is held. */
  async signal(daemon: Daemon, signal: NodeJS.Signals): Promise<void> {
    await this.run('sh', '-c', `kill -${signal.slice('SIG'.length)} $(cat /run/${daemon}.pid)`);
  }

  /** Keeps a daemon that ends from being started again. */
  async hold(daemon: Daemon): Promise<void> {
    await this.run('touch', `/run/hold.${daemon}`);
  }

  async release(daemon: Daemon): Promise<void> {
    await this.run('rm', '-f', `/run/hold.${daemon}`);
  }

  async importImage(file: string): Promise<void> {
    const platform = ['--platform', `linux/${process.arch === 'arm64' ? 'arm64' : 'amd64'}`];
    await this.run(
      join(this.#settings.programs, 'ctr'),
      '--namespace',
      'k8s.io',
      'images',
      'import',
      ...platform,
      file,
    );
  }

  /** Starts a program that runs until it is stopped, or the node is. Its log is in the folder of the node. */
  async start(name: string, program: string, flags: readonly string[]): Promise<void> {
    const log = join(this.#folder, `${name}.log`);
    const line = `setsid ${program} ${flags.join(' ')} >> ${log} 2>&1 < /dev/null & echo $! > /run/${name}.pid`;
    await this.run('sh', '-c', line);
  }

  /** Ends a program that {@link start} started, if it runs. */
  async stop(name: string): Promise<void> {
    await this.try('sh', '-c', `kill -KILL $(cat /run/${name}.pid)`);
  }

  /** Runs a program on the node, as a session of ssh would; needs no network. */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    return runProgram('nsenter', this.#enter(program, args));
  }

  async try(program: string, ...args: readonly string[]): Promise<ProgramResult> {
    return tryProgram('nsenter', this.#enter(program, args));
  }

  #enter(program: string, args: readonly string[]): readonly string[] {
    return ['-t', String(this.#processOne), '-m', '-u', '-i', '-n', '-p', '-C', program, ...args];
  }
}

function isRunning(pid: number, script: string): boolean {
  const path = `/proc/${pid}/cmdline`;
  return existsSync(path) && readFileSync(path, 'utf8').includes(script);
}
