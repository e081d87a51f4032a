// The real kubectl, with a kubeconfig for one server and a discovery cache of its own in a temporary folder.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** A command that runs longer counts as stuck. */
const commandTimeoutMs = 30_000;

interface KubectlTarget {
  readonly url: string;
  readonly token: string;
  /** PEM; undefined for plain HTTP. */
  readonly ca: string | undefined;
}

export interface KubectlOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs until it is stopped, such as a watch, or for a long time. */
interface KubectlStream {
  /** Resolves with all output so far once it matches; rejects with it when the command ends, or at the timeout. */
  until(pattern: RegExp, output?: 'stdout' | 'stderr'): Promise<string>;
  /** Resolves when the command ends by itself. */
  ended(): Promise<KubectlOutcome>;
  stop(): Promise<void>;
}

export class Kubectl {
  readonly #binary: string;
  readonly #folder: string;
  readonly #kubeconfig: string;

  constructor(binary: string, target: KubectlTarget) {
    this.#binary = binary;
    this.#folder = mkdtempSync(join(tmpdir(), 'nlc-kubectl-'));
    this.#kubeconfig = join(this.#folder, 'kubeconfig');
    writeFileSync(this.#kubeconfig, kubeconfigOf(target), { mode: 0o600 });
  }

  /** Runs one command to its end, with these environment variables in addition. */
  async run(args: readonly string[], stdin = '', variables: NodeJS.ProcessEnv = {}): Promise<KubectlOutcome> {
    const child = spawn(this.#binary, [...args], {
      env: { ...this.#environment(), ...variables },
      stdio: ['pipe', 'pipe', 'pipe'],
      signal: AbortSignal.timeout(commandTimeoutMs),
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    // A command that fails may end before it reads its input.
    child.stdin.on('error', () => {}).end(stdin);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...output };
  }

  /** Starts a command that does not end by itself, or not soon. */
  start(args: readonly string[]): KubectlStream {
    const child = spawn(this.#binary, [...args], { env: this.#environment(), stdio: ['ignore', 'pipe', 'pipe'] });
    return follow(child);
  }

  /** The path of the kubeconfig, until {@link forget}. */
  get kubeconfig(): string {
    return this.#kubeconfig;
  }

  /** Removes the temporary folder. */
  forget(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, KUBECONFIG: this.#kubeconfig, KUBECACHEDIR: join(this.#folder, 'cache') };
  }
}

/** A kubeconfig may be JSON. */
function kubeconfigOf({ url, token, ca }: KubectlTarget): string {
  const authority = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, ...authority } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  });
}

function follow(child: ChildProcessByStdio<null, Readable, Readable>): KubectlStream {
  const all = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (all.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (all.stderr += text));
  const closed = once(child, 'close');
  const endedTooEarly = (): Promise<never> =>
    Promise.reject(new Error(`kubectl ended after: ${all.stdout}${all.stderr}`));
  return {
    async until(pattern, output = 'stdout') {
      const deadline = AbortSignal.timeout(commandTimeoutMs);
      while (!pattern.test(all[output])) {
        const next = once(child[output], 'data', { signal: deadline });
        await Promise.race([next, closed.then(endedTooEarly)]);
      }
      return all[output];
    },
    async ended() {
      const [code] = (await closed) as [number | null];
      return { code, ...all };
    },
    async stop() {
      child.kill();
      await closed;
    },
  };
}
