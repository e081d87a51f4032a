// One `nlc controller` whose every request is written down on its way to the API server.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NlcProcess } from './nlc-process.ts';
import { type ProxyTarget, type RecordedRequest, RecordingProxy } from './recording-proxy.ts';

export interface ProxiedControllerOptions extends ProxyTarget {
  readonly token: string;
  /** Somewhere to write the kubeconfig; removed by whoever made it. */
  readonly folder: string;
  readonly name: string;
  readonly args: readonly string[];
  /** Modules that the process loads before anything else. */
  readonly imports?: readonly string[];
}

/** Printed by the process itself when its event loop has run empty; never, if something else ends it. */
const endingHook = `data:text/javascript,${encodeURIComponent(
  "process.on('beforeExit', () => console.log(['event loop empty:', ...process.getActiveResourcesInfo()].join(' ')))",
)}`;

export class ProxiedController {
  readonly process: NlcProcess;
  readonly proxy: RecordingProxy;

  private constructor(process: NlcProcess, proxy: RecordingProxy) {
    this.process = process;
    this.proxy = proxy;
  }

  static async start(options: ProxiedControllerOptions): Promise<ProxiedController> {
    const { token, folder, name, args, imports = [], ...target } = options;
    const proxy = await RecordingProxy.start(target);
    const kubeconfig = join(folder, `${name}.kubeconfig`);
    writeFileSync(kubeconfig, kubeconfigText(proxy.url, token), { mode: 0o600 });
    const common = ['--metrics-bind-address=0', '--health-probe-bind-address=127.0.0.1:0', '--log-format=json'];
    const nlc = new NlcProcess(['controller', `--kubeconfig=${kubeconfig}`, ...common, ...args], {
      NODE_OPTIONS: [endingHook, ...imports].map((module) => `--import ${module}`).join(' '),
    });
    return new ProxiedController(nlc, proxy);
  }

  said(message: string): boolean {
    return this.process.logs().some(({ msg }) => msg === message);
  }

  /** Its event loop ran empty, but for its standard streams: no `process.exit` cut off a socket or a timer. */
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
  }
}

/** The holder that a write to the leader's own lease names; undefined for any other request. */
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
