// One `nlc controller` process whose requests to the API server are recorded by a proxy.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NlcProcess } from './nlc-process.ts';
import { type ProxyTarget, type RecordedRequest, RecordingProxy } from './recording-proxy.ts';

interface ProxiedControllerOptions extends ProxyTarget {
  readonly token: string;
  readonly args: readonly string[];
  /** Modules that the process preloads. */
  readonly imports?: readonly string[];
}

/** Printed by the process when its event loop runs empty; never if it exits otherwise. */
const endingHook = `data:text/javascript,${encodeURIComponent(
  "process.on('beforeExit', () => console.log(['event loop empty:', ...process.getActiveResourcesInfo()].join(' ')))",
)}`;

export class ProxiedController implements AsyncDisposable {
  readonly process: NlcProcess;
  readonly proxy: RecordingProxy;
  readonly #folder: string;

  private constructor(process: NlcProcess, proxy: RecordingProxy, folder: string) {
    this.process = process;
    this.proxy = proxy;
    this.#folder = folder;
  }

  static async start(options: ProxiedControllerOptions): Promise<ProxiedController> {
    const { token, args, imports = [], ...target } = options;
    const proxy = await RecordingProxy.start(target);
    const folder = mkdtempSync(join(tmpdir(), 'nlc-proxied-'));
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, kubeconfigText(proxy.url, token), { mode: 0o600 });
    const common = ['--metrics-bind-address=0', '--health-probe-bind-address=127.0.0.1:0', '--log-format=json'];
    const nlc = new NlcProcess(['controller', `--kubeconfig=${kubeconfig}`, ...common, ...args], {
      NODE_OPTIONS: [endingHook, ...imports].map((module) => `--import ${module}`).join(' '),
    });
    return new ProxiedController(nlc, proxy, folder);
  }

  said(message: string): boolean {
    return this.process.said(message);
  }

  /** Whether its event loop ran empty, except for standard streams: no `process.exit` cut off a socket or a timer. */
  get endedByItself(): boolean {
    return /^event loop empty:( PipeWrap)*$/m.test(this.process.stdout);
  }

  /** Lines of level warn and above, from the given one on. */
  noiseSince(message: string): readonly unknown[] {
    const logs = this.process.logs();
    const start = logs.findIndex(({ msg }) => msg === message);
    return logs.slice(Math.max(0, start)).filter(({ level }) => isNoise(level));
  }

  async stop(): Promise<void> {
    if (!this.process.hasEnded) {
      this.process.signal('SIGCONT');
      await this.process.kill();
    }
    await this.proxy.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** The holder in a write to the leader election lease; undefined for any other request. */
export function holderWritten({ path, body }: RecordedRequest): string | undefined {
  if (!path.includes('/namespaces/kube-system/leases')) return undefined;
  const { spec } = JSON.parse(body) as { readonly spec: { readonly holderIdentity: string } };
  return spec.holderIdentity;
}

function isNoise(level: unknown): boolean {
  return level === 'warn' || level === 'error' || level === 'fatal' || (typeof level === 'number' && level >= 40);
}

function kubeconfigText(server: string, token: string): string {
  const name = 'recorded';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}
