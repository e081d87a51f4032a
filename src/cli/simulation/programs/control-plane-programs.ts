// etcd and kube-apiserver, as released, on loopback: a simulated outage on the API server of a real cluster.
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { type Credentials, kubeconfigText, writeCredentials } from './control-plane-credentials.ts';
import { anyTaken, freePorts } from './free-ports.ts';
import { Guard } from './guard.ts';
import { isExecutable } from './program-finder.ts';
import { Program } from './program.ts';

const controlPlanePrograms = ['etcd', 'kube-apiserver'] as const;

/** A loaded machine needs ten times the usual three seconds. */
const readyMsMax = 60_000;
const pollMs = 100;
const probeMsMax = 2_000;
const attemptsMax = 5;
/** kube-apiserver creates it a moment after it is ready; hollow nodes need it. */
const leaseNamespace = '/api/v1/namespaces/kube-node-lease';

interface ControlPlaneOptions {
  /** Folder of the two programs. */
  readonly binaries: string;
  /** Created; for data, keys and logs. Removed at the end. */
  readonly folder: string;
  /** Port of kube-apiserver; 0: a free one. */
  readonly port: number;
  /** For not-ready and unreachable nodes, of pods that have no toleration of their own. */
  readonly defaultTolerationSeconds: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Why the folder cannot be used; undefined if it has both programs. */
export function controlPlaneProblem(folder: string): string | undefined {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return `got ${folder}, which is no folder`;
  const missing = controlPlanePrograms.filter((name) => !isExecutable(join(folder, name)));
  return missing.length === 0 ? undefined : `got ${folder}, without an executable ${missing.join(' and ')}`;
}

/** A control plane of this process; it ends with it, even if it is killed. */
export class ControlPlanePrograms {
  readonly url: string;
  readonly #folder: string;
  readonly #credentials: Credentials;
  readonly #guard: Guard;
  readonly #clock: Clock;
  #programs: readonly Program[] = [];
  #stalled = new AbortController();

  private constructor({ folder, clock }: ControlPlaneOptions, ports: Ports) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.url = `https://127.0.0.1:${ports.apiServer}`;
    this.#folder = folder;
    this.#credentials = writeCredentials(folder, []);
    this.#guard = new Guard(folder);
    this.#clock = clock;
  }

  /**
   * Resolves when kube-apiserver is ready and has its first namespaces, or at the end of the signal. Rejects with the end of a
   * program's log if one ends before, or if it takes more than a minute; nothing is left then.
   */
  static async start(options: ControlPlaneOptions): Promise<ControlPlanePrograms> {
    for (let attempt = 1; ; attempt += 1) {
      const free = await freePorts(3);
      try {
        return await ControlPlanePrograms.#startOn(options, free);
      } catch (error) {
        // Another process may have taken one of them meanwhile.
        if (attempt === attemptsMax || !(await anyTaken(options.port === 0 ? free : free.slice(0, 2)))) throw error;
      }
    }
  }

  static async #startOn(options: ControlPlaneOptions, free: readonly number[]): Promise<ControlPlanePrograms> {
    const [etcdClient = 0, etcdPeer = 0, apiServer = 0] = free;
    const ports = { etcdClient, etcdPeer, apiServer: options.port === 0 ? apiServer : options.port };
    const plane = new ControlPlanePrograms(options, ports);
    try {
      await plane.#start(options, ports);
      return plane;
    } catch (error) {
      await plane.close();
      throw error;
    }
  }

  get running(): readonly { readonly file: string; readonly pid: number }[] {
    return this.#programs;
  }

  /** Kubeconfig of the administrator. */
  kubeconfig(): string {
    const ca = readFileSync(this.#caFile, 'utf8');
    return kubeconfigText({ url: this.url, ca, token: this.#credentials.adminToken });
  }

  /** Freezes kube-apiserver: connections stay open and nothing is answered. */
  stall(ms: number): void {
    this.endStall();
    const stalled = new AbortController();
    this.#stalled = stalled;
    this.#apiServer?.send('SIGSTOP');
    void this.#clock.sleep(ms, stalled.signal).then(() => {
      if (!stalled.signal.aborted) this.endStall();
    });
  }

  endStall(): void {
    this.#stalled.abort();
    this.#apiServer?.send('SIGCONT');
  }

  /** Stops both programs, the API server first, and removes the folder. */
  async close(): Promise<void> {
    this.endStall();
    for (const program of this.#programs.toReversed()) await program.stop();
    await this.#guard.dismiss();
  }

  get #caFile(): string {
    return join(this.#folder, 'certificates', 'apiserver.crt');
  }

  get #apiServer(): Program | undefined {
    return this.#programs[1];
  }

  async #start(
    { binaries, defaultTolerationSeconds: seconds, signal }: ControlPlaneOptions,
    ports: Ports,
  ): Promise<void> {
    const folder = this.#folder;
    const args = {
      etcd: etcdArguments(folder, ports),
      'kube-apiserver': [
        ...apiServerArguments(folder, ports, this.#credentials),
        `--default-not-ready-toleration-seconds=${seconds}`,
        `--default-unreachable-toleration-seconds=${seconds}`,
      ],
    };
    for (const name of controlPlanePrograms) {
      const about = { name, file: join(binaries, name), args: args[name], folder, guard: this.#guard };
      const program = await Program.start({ ...about, clock: this.#clock, logFile: join(folder, `${name}.log`) });
      this.#programs = [...this.#programs, program];
    }
    await this.#becomeReady(signal);
  }

  async #becomeReady(signal: AbortSignal): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + readyMsMax;
    while (!signal.aborted && !((await this.#answers('/readyz')) && (await this.#answers(leaseNamespace)))) {
      const failure = this.#programs.map((program) => program.failure()).find((each) => each !== undefined);
      if (failure !== undefined) throw new Error(failure);
      if (this.#clock.monotonicMs() > untilMs)
        throw new Error(`kube-apiserver is not ready after ${readyMsMax / 1_000} s`);
      await this.#clock.sleep(pollMs, signal);
    }
  }

  async #answers(path: string): Promise<boolean> {
    if (statSync(this.#caFile, { throwIfNoEntry: false }) === undefined) return false;
    const headers = { authorization: `Bearer ${this.#credentials.adminToken}` };
    const ca = readFileSync(this.#caFile);
    return new Promise((resolve) => {
      const sent = request(this.url + path, { ca, headers, timeout: probeMsMax }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      sent.once('timeout', () => sent.destroy());
      sent.once('error', () => resolve(false));
      sent.end();
    });
  }
}

export interface Ports {
  readonly etcdClient: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
}

export function etcdArguments(folder: string, ports: Ports): readonly string[] {
  const clientUrl = `http://127.0.0.1:${ports.etcdClient}`;
  return [
    `--data-dir=${folder}/etcd`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=http://127.0.0.1:${ports.etcdPeer}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ];
}

export function apiServerArguments(
  folder: string,
  ports: Ports,
  credentials: Credentials,
  serviceAccounts = false,
): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcdClient}`,
    `--secure-port=${ports.apiServer}`,
    '--bind-address=127.0.0.1',
    // Otherwise it requires a non-loopback address and does not start without one. Endpoints cannot contain loopback
    // addresses, so it publishes none.
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--cert-dir=${folder}/certificates`,
    `--service-account-key-file=${credentials.serviceAccountKeyFile}`,
    `--service-account-signing-key-file=${credentials.serviceAccountKeyFile}`,
    '--service-account-issuer=https://control-plane.local',
    `--token-auth-file=${credentials.tokenFile}`,
    '--authorization-mode=RBAC',
    // As in the embedded server.
    '--service-cluster-ip-range=10.96.0.0/16',
    // Pods would require the default service account, which only a controller creates.
    ...(serviceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
  ];
}
