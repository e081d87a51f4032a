// `nlc` as users run it: a separate process, started from source, stopped by its process id.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const running = new Set<ChildProcess>();

// A test that is killed must not leave running controllers behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

interface NlcExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class NlcProcess implements AsyncDisposable {
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

  /**
   * `nlc controller` on this API server, with JSON logs and with its pages on free ports of loopback. `flags` take
   * precedence.
   */
  static controller(kubeconfig: string, ...flags: readonly string[]): NlcProcess {
    const pages = ['--metrics-bind-address=127.0.0.1:0', '--health-probe-bind-address=127.0.0.1:0'];
    return new NlcProcess(['controller', `--kubeconfig=${kubeconfig}`, ...pages, '--log-format=json', ...flags]);
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

  said(message: string): boolean {
    return this.logs().some(({ msg }) => msg === message);
  }

  /** Host and port of its metrics or health address, as logged. */
  address(of: 'metrics' | 'health' = 'metrics'): string {
    const message = of === 'metrics' ? 'serving /metrics' : 'serving /livez and /readyz';
    return `127.0.0.1:${String(this.logs().find(({ msg }) => msg === message)?.['port'])}`;
  }

  /** The text of a page of its metrics address. */
  async page(path: string): Promise<string> {
    return (await fetch(`http://${this.address()}${path}`)).text();
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** SIGTERM, and the exit code. */
  async terminate(): Promise<NlcExit> {
    this.signal('SIGTERM');
    return this.exited;
  }

  /** SIGKILL: without cleanup. */
  async kill(): Promise<NlcExit> {
    this.signal('SIGKILL');
    return this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
