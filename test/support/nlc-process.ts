// `nlc` as its users run it: a process of its own, started from source, stopped by its process id.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const running = new Set<ChildProcess>();

// A test that dies must not leave controllers behind that go on writing.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface NlcExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class NlcProcess {
  readonly pid: number;
  readonly exited: Promise<NlcExit>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  #exit: NlcExit | undefined;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, [main, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    running.add(this.#child);
    this.pid = this.#child.pid ?? -1;
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code, signal) => {
        running.delete(this.#child);
        this.#exit = { code, signal };
        resolve(this.#exit);
      });
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get hasEnded(): boolean {
    return this.#exit !== undefined;
  }

  /** Log lines (JSON) so far, parsed. */
  logs(): readonly Readonly<Record<string, unknown>>[] {
    return this.#stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** SIGTERM, and the exit code. */
  async terminate(): Promise<NlcExit> {
    this.signal('SIGTERM');
    return this.exited;
  }

  /** SIGKILL: no chance to finish anything. */
  async kill(): Promise<NlcExit> {
    this.signal('SIGKILL');
    return this.exited;
  }
}
