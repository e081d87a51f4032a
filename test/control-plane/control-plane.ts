// A real control plane on loopback, for tests: etcd and kube-apiserver in a temporary folder, with kubectl and optionally
// kube-controller-manager. It starts in a few seconds, can be frozen, killed and restarted, and is removed completely.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlaneBinaries, findControlPlane } from '../../tools/control-plane/binaries.ts';
import {
  type Credentials,
  kubeconfigText,
  type User,
  writeCredentials,
} from '../../src/cli/simulation/programs/control-plane-credentials.ts';
import { anyTaken, freePorts } from '../../src/cli/simulation/programs/free-ports.ts';
import { Guard } from '../../src/cli/simulation/programs/guard.ts';
import {
  apiServerArguments,
  etcdArguments,
  type Ports,
} from '../../src/cli/simulation/programs/control-plane-programs.ts';
import { auditArguments, auditPolicyText, controllerManagerArguments } from './program-arguments.ts';
import { ProgramRun } from './program-run.ts';
import { RestClient } from './rest-client.ts';
import { waitUntil } from './wait-until.ts';

/** Timeout for a program to become ready. A loaded machine needs ten times the usual three seconds. */
const readyTimeoutMs = 60_000;
const readyPollMs = 100;
const readyProbeTimeoutMs = 2_000;
const portAttemptsMax = 5;
const kubectlTimeoutMs = 60_000;
const serviceAccountTokenSeconds = 24 * 3_600;
/** kube-apiserver creates these a moment after it becomes ready. */
const namespacesAtStart = ['default', 'kube-system', 'kube-node-lease'];

type AuditLevel = 'Metadata' | 'Request' | 'RequestResponse';

/** A rule of an audit policy, as far as tests use them. */
export interface AuditRule {
  readonly level: AuditLevel | 'None';
  readonly users?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly { readonly group: string; readonly resources: readonly string[] }[];
}

interface ControlPlaneOptions {
  /** Users in addition to the administrator. kube-apiserver reads them at its start only. */
  readonly users?: readonly User[];
  /** Writes every request to `auditLogFile`, one JSON object per line. */
  readonly auditLevel?: AuditLevel;
  /** Audit policy rules; the first that matches applies. Default: all requests at `auditLevel`. */
  readonly auditRules?: readonly AuditRule[];
  /** Appended to the default flags, so that they take precedence. */
  readonly apiServerArgs?: readonly string[];
  readonly etcdArgs?: readonly string[];
  /** Pods get the default service account and its token; needs the controllers that create both. Default: false. */
  readonly serviceAccounts?: boolean;
}

export interface ControllerManager {
  readonly pid: number;
  readonly url: string;
  readonly logFile: string;
  /** Whether the process has ended, by itself or by {@link stop}. */
  readonly hasEnded: boolean;
  stop(): Promise<void>;
}

interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface TokenRequest {
  readonly status: { readonly token: string };
}

/**
 * Starts etcd and kube-apiserver and waits until they are ready and the first namespaces exist. Throws an error with the
 * ends of their logs if they do not become ready, or with the missing programs if they are not built. `pick` returns
 * candidates for three ports; it is called again if one of them is in use.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}, pick = freePorts): Promise<ControlPlane> {
  const binaries = findControlPlane();
  if ('missing' in binaries) throw new Error(binaries.missing);
  return retryOnTakenPorts(
    () => pick(3),
    async ([etcdClient = 0, etcdPeer = 0, apiServer = 0]) => {
      const plane = new ControlPlane(binaries, { etcdClient, etcdPeer, apiServer }, options);
      await plane.start();
      return plane;
    },
  );
}

/** Retries a failed start with other ports only if another process uses one of its ports. */
async function retryOnTakenPorts<T>(
  pick: () => Promise<readonly number[]>,
  start: (ports: readonly number[]) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const ports = await pick();
    try {
      return await start(ports);
    } catch (error) {
      if (attempt === portAttemptsMax || !(await anyTaken(ports))) throw error;
    }
  }
}

/** A running control plane. Created by {@link startControlPlane}; usable with `await using`. */
export class ControlPlane implements AsyncDisposable {
  /** Folder of all its files; removed by {@link stop}. */
  readonly folder: string;
  readonly binaries: ControlPlaneBinaries;
  readonly url: string;
  /** Client URL of etcd; also serves plain HTTP and JSON (`/v3/...`). */
  readonly etcdUrl: string;
  /** CA of the API server, PEM. */
  readonly caFile: string;
  readonly adminToken: string;
  /** The administrator's. */
  readonly kubeconfigFile: string;
  readonly serviceAccountKeyFile: string;
  /** Only with `auditLevel`. */
  readonly auditLogFile: string | undefined;
  readonly #guard: Guard;
  readonly #credentials: Credentials;
  readonly #etcdArgs: readonly string[];
  readonly #apiServerArgs: readonly string[];
  readonly #managers = new Set<ProgramRun>();
  readonly #others = new Set<ProgramRun>();
  readonly #clients = new Set<RestClient>();
  #etcd: ProgramRun | undefined;
  #apiServer: ProgramRun | undefined;
  #kubeconfigs = 0;
  #managersStarted = 0;

  constructor(binaries: ControlPlaneBinaries, ports: Ports, options: ControlPlaneOptions) {
    this.binaries = binaries;
    this.folder = mkdtempSync(join(tmpdir(), 'nlc-control-plane-'));
    this.#guard = new Guard(this.folder);
    this.#credentials = writeCredentials(this.folder, options.users ?? []);
    this.url = `https://127.0.0.1:${ports.apiServer}`;
    this.etcdUrl = `http://127.0.0.1:${ports.etcdClient}`;
    this.caFile = join(this.folder, 'certificates', 'apiserver.crt');
    this.adminToken = this.#credentials.adminToken;
    this.serviceAccountKeyFile = this.#credentials.serviceAccountKeyFile;
    this.kubeconfigFile = join(this.folder, 'admin.kubeconfig');
    this.auditLogFile = options.auditLevel === undefined ? undefined : join(this.folder, 'audit.log');
    this.#etcdArgs = [...etcdArguments(this.folder, ports), ...(options.etcdArgs ?? [])];
    this.#apiServerArgs = [
      ...apiServerArguments(this.folder, ports, this.#credentials, options.serviceAccounts),
      ...this.#auditArgs(options),
      ...(options.apiServerArgs ?? []),
    ];
  }

  /** Called once, by {@link startControlPlane}. Removes everything if it throws. */
  async start(): Promise<void> {
    try {
      this.#etcd = await this.#run('etcd', this.binaries.etcd, this.#etcdArgs);
      await this.#startApiServer();
      await this.#namespaces();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Process ids of the running programs. */
  get pids(): {
    readonly etcd: number | undefined;
    readonly apiServer: number | undefined;
    readonly controllerManagers: readonly number[];
    readonly guard: number;
  } {
    const pidOf = (program: ProgramRun | undefined): number | undefined =>
      program === undefined || program.hasEnded ? undefined : program.pid;
    return {
      etcd: pidOf(this.#etcd),
      apiServer: pidOf(this.#apiServer),
      controllerManagers: [...this.#managers].map(({ pid }) => pid),
      guard: this.#guard.pid,
    };
  }

  /** The token of one of the users in the options. */
  tokenOf(user: string): string {
    const token = this.#credentials.tokens.get(user);
    if (token === undefined) throw new Error(`${user} was not among the users given at the start`);
    return token;
  }

  /** Creates a service account, and its namespace if needed, and returns a token that is valid for a day. */
  async addServiceAccount(namespace: string, name: string): Promise<string> {
    const client = this.client();
    const made = await client.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    if (made.status !== 201 && made.status !== 409) throw new Error(`namespace ${namespace}: ${made.status}`);
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await client.must('POST', accounts, { metadata: { name } });
    const { status } = await client.must<TokenRequest>('POST', `${accounts}/${name}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: serviceAccountTokenSeconds },
    });
    return status.token;
  }

  /** Writes a kubeconfig for a token and returns its path. */
  kubeconfigFor(token: string): string {
    this.#kubeconfigs += 1;
    const file = join(this.folder, `${this.#kubeconfigs}.kubeconfig`);
    this.#writeKubeconfig(file, token);
    return file;
  }

  /** A REST client, by default of the administrator. {@link stop} closes it. */
  client(token: string = this.adminToken): RestClient {
    const client = new RestClient({ url: this.url, ca: readFileSync(this.caFile, 'utf8'), token });
    this.#clients.add(client);
    return client;
  }

  /** Runs kubectl; an exit code other than 0 is a result, not an error. */
  kubectl(args: readonly string[], input = '', kubeconfigFile = this.kubeconfigFile): Promise<CommandResult> {
    const child = spawn(this.binaries.kubectl, args, {
      cwd: this.folder,
      env: { HOME: this.folder, PATH: process.env['PATH'], KUBECONFIG: kubeconfigFile },
      timeout: kubectlTimeoutMs,
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    child.stdin.end(input);
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code: code ?? -1, ...output }));
    });
  }

  /** Freezes kube-apiserver (SIGSTOP): connections stay open without responses, as if its machine hangs. */
  stopApiServer(): void {
    this.#apiServer?.freeze();
  }

  /** Resumes a frozen kube-apiserver (SIGCONT). */
  continueApiServer(): void {
    this.#apiServer?.thaw();
  }

  /** Kills kube-apiserver and waits for its exit: connections break, new ones are refused. */
  async killApiServer(): Promise<void> {
    await this.#apiServer?.kill();
  }

  /** Restarts kube-apiserver with the same address, certificate and tokens, and waits until it is ready. */
  async restartApiServer(): Promise<void> {
    await this.killApiServer();
    await this.#startApiServer();
  }

  /** Starts a kube-controller-manager with these flags in addition to the required ones. */
  async startControllerManager(args: readonly string[]): Promise<ControllerManager> {
    return retryOnTakenPorts(
      () => freePorts(1),
      ([port = 0]) => this.#startControllerManager(port, args),
    );
  }

  /** Starts another program, which ends with the control plane at the latest. The log of all its runs is in `folder`. */
  async startProgram(name: string, binary: string, args: readonly string[]): Promise<ProgramRun> {
    const program = await this.#run(name, binary, args);
    this.#others.add(program);
    return program;
  }

  /** Kills all programs, waits for their exit and removes the folder. A second call does nothing. */
  async stop(): Promise<void> {
    const programs = [...this.#managers, ...this.#others, this.#apiServer, this.#etcd];
    await Promise.all(programs.filter((program) => program !== undefined).map((program) => program.kill()));
    await Promise.all([...this.#clients].map((client) => client.close()));
    this.#managers.clear();
    this.#others.clear();
    this.#clients.clear();
    await this.#guard.dismiss();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #startApiServer(): Promise<void> {
    const server = await this.#run('kube-apiserver', this.binaries.kubeApiserver, this.#apiServerArgs);
    this.#apiServer = server;
    const keyFile = join(this.folder, 'certificates', 'apiserver.key');
    await this.#answersReady(server, { url: `${this.url}/readyz`, caFile: this.caFile, lastFile: keyFile });
    this.#writeKubeconfig(this.kubeconfigFile, this.adminToken);
  }

  async #startControllerManager(port: number, args: readonly string[]): Promise<ControllerManager> {
    this.#managersStarted += 1;
    const name = `kube-controller-manager-${this.#managersStarted}`;
    const certificateFolder = join(this.folder, name);
    const files = {
      kubeconfigFile: this.kubeconfigFile,
      serviceAccountKeyFile: this.serviceAccountKeyFile,
      caFile: this.caFile,
      certificateFolder,
    };
    const allArgs = [...controllerManagerArguments(files, port), ...args];
    const manager = await this.#run(name, this.binaries.kubeControllerManager, allArgs);
    this.#managers.add(manager);
    const stop = async (): Promise<void> => {
      await manager.kill();
      this.#managers.delete(manager);
    };
    const certificate = join(certificateFolder, 'kube-controller-manager');
    const url = `https://127.0.0.1:${port}`;
    try {
      const files = { caFile: `${certificate}.crt`, lastFile: `${certificate}.key` };
      await this.#answersReady(manager, { url: `${url}/healthz`, ...files });
    } catch (error) {
      await stop();
      throw error;
    }
    const { pid, logFile } = manager;
    return {
      pid,
      url,
      logFile,
      get hasEnded() {
        return manager.hasEnded;
      },
      stop,
    };
  }

  async #answersReady(
    program: ProgramRun,
    { url, caFile, lastFile }: { readonly url: string; readonly caFile: string; readonly lastFile: string },
  ): Promise<void> {
    const { origin, pathname } = new URL(url);
    await waitUntil(program.name, { timeoutMs: readyTimeoutMs, pollMs: readyPollMs }, async () => {
      // Without etcd, kube-apiserver retries until its own timeout.
      if (program.hasEnded || this.#etcd?.hasEnded) return 'ended';
      // It writes its certificate before the key.
      if (!existsSync(lastFile)) return undefined;
      const client = new RestClient({ url: origin, ca: readFileSync(caFile, 'utf8'), token: this.adminToken });
      return (await isReady(client, pathname)) ? 'ready' : undefined;
    }).then(
      (outcome) => {
        if (outcome === 'ended') throw new Error(this.#tails());
      },
      (cause: unknown) => {
        throw new Error(this.#tails(), { cause });
      },
    );
  }

  async #namespaces(): Promise<void> {
    const client = this.client();
    for (const name of namespacesAtStart) {
      await waitUntil(`namespace ${name}`, { timeoutMs: readyTimeoutMs }, async () => {
        const { status } = await client.send('GET', `/api/v1/namespaces/${name}`);
        return status === 200;
      });
    }
  }

  #tails(): string {
    const programs = [this.#etcd, this.#apiServer, ...this.#managers];
    return programs.map((program) => program?.tail() ?? '').join('\n');
  }

  #run(name: string, binary: string, args: readonly string[]): Promise<ProgramRun> {
    const logFile = join(this.folder, `${name}.log`);
    return ProgramRun.start({ name, binary, args, folder: this.folder, logFile, guard: this.#guard });
  }

  #auditArgs({ auditLevel: level, auditRules: rules }: ControlPlaneOptions): readonly string[] {
    if (level === undefined || this.auditLogFile === undefined) return [];
    const policyFile = join(this.folder, 'audit-policy.json');
    writeFileSync(policyFile, auditPolicyText(rules ?? [{ level }]));
    return auditArguments(policyFile, this.auditLogFile);
  }

  #writeKubeconfig(file: string, token: string): void {
    const text = kubeconfigText({ url: this.url, ca: readFileSync(this.caFile, 'utf8'), token });
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
  }
}

async function isReady(client: RestClient, path: string): Promise<boolean> {
  try {
    const { status } = await client.send('GET', path, undefined, { signal: AbortSignal.timeout(readyProbeTimeoutMs) });
    return status === 200;
  } catch {
    // Refused, reset or too slow: not ready yet. The caller has a deadline.
    return false;
  } finally {
    await client.close();
  }
}
