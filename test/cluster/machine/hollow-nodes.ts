// Hollow nodes of the cluster, from one process at the operator's desk: they have zones of their own, and no pod comes to them.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { inNamespace, runProgram } from './run-program.ts';
import { type ClusterSettings, namespaceOf } from './settings.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const control = '127.0.0.1:7070';

export class HollowNodes {
  readonly #settings: ClusterSettings;
  #process: ChildProcess | undefined;

  constructor(settings: ClusterSettings) {
    this.#settings = settings;
  }

  /** Zones are `hollow-1`, `hollow-2` and so on. */
  start(nodes: number, zones: number): void {
    const { folder } = this.#settings;
    const flags = [
      `--kubeconfig=${join(folder, 'kubeconfig')}`,
      `--nodes=${nodes}`,
      `--zones=${zones}`,
      '--node-labels=cluster.local/hollow=true',
      '--register-with-taints=cluster.local/hollow:NoSchedule',
      `--control-address=${control}`,
    ];
    const log = openSync(join(folder, 'hollow-nodes.log'), 'a');
    const [program, args] = this.#atDesk(['src/cli/main.ts', 'hollow-nodes', ...flags]);
    this.#process = spawn(program, args, { cwd: root, stdio: ['ignore', log, log] });
    closeSync(log);
  }

  /** Cuts all nodes of a zone off at once, until they stop. */
  async cutOff(zone: string): Promise<void> {
    const body = JSON.stringify({ selector: { zone }, action: { kind: 'partition' } });
    const headers = { 'content-type': 'application/json' };
    const request = JSON.stringify({ method: 'POST', headers, body });
    const script = `const { ok } = await fetch('http://${control}/faults', ${request}); process.exitCode = ok ? 0 : 1;`;
    await runProgram(...this.#atDesk(['--input-type=module', '--eval', script]));
  }

  /** The node objects stay. */
  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  #atDesk(args: readonly string[]): readonly [string, string[]] {
    return inNamespace(namespaceOf(this.#settings, 'ops'), process.execPath, args);
  }
}
