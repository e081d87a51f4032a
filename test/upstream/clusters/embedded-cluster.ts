// The cluster of suite e2e-embedded: `nlc apiserver` with its own controllers, kube-scheduler and kube-controller-manager as
// released, the latter without the controllers that run elsewhere.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { serverControllerNames } from '../../../src/hollow-cluster/apiserver/controllers/controller-names.ts';
import { Guard } from '../../../src/cli/simulation/programs/guard.ts';
import { type ControlPlaneBinaries, findControlPlane } from '../../../tools/control-plane/binaries.ts';
import { ProgramRun } from '../../control-plane/program-run.ts';
import { RestClient } from '../../control-plane/rest-client.ts';
import { waitUntil } from '../../control-plane/wait-until.ts';
import { type Cluster, nlc, nodesReady, productPrograms, type ProgramToStart, replacedControllers } from './cluster.ts';

const startTimeoutMs = 60_000;

/** Starts the cluster and waits until its nodes are ready. */
export async function startEmbeddedCluster(): Promise<Cluster> {
  const binaries = findControlPlane();
  if ('missing' in binaries) throw new Error(binaries.missing);
  const folder = mkdtempSync(join(tmpdir(), 'nlc-embedded-cluster-'));
  const guard = new Guard(folder);
  const programs = new Programs(folder, guard);
  const kubeconfigFile = join(folder, 'kubeconfig');
  try {
    await programs.start(nlc('nlc-apiserver', 'apiserver', ['--port=0', `--kubeconfig-out=${kubeconfigFile}`]));
    const client = await connect(kubeconfigFile);
    for (const program of kubernetesPrograms(binaries, kubeconfigFile)) await programs.start(program);
    for (const program of productPrograms(kubeconfigFile)) await programs.start(program);
    await nodesReady(client);
    const dispose = async (): Promise<void> => {
      await client.close();
      await programs.stop();
    };
    return { kubeconfigFile, folder, client, kubectl: binaries.kubectl, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    const tails = programs.tails();
    await programs.stop();
    throw new Error(tails, { cause: error });
  }
}

/** The programs of the cluster; ended by their process ids, by the guard if this process crashes. */
class Programs {
  readonly #folder: string;
  readonly #guard: Guard;
  readonly #running: ProgramRun[] = [];

  constructor(folder: string, guard: Guard) {
    this.#folder = folder;
    this.#guard = guard;
  }

  async start({ name, file, args }: ProgramToStart): Promise<void> {
    const about = { name, binary: file, args, folder: this.#folder, guard: this.#guard };
    this.#running.push(await ProgramRun.start({ ...about, logFile: join(this.#folder, `${name}.log`) }));
  }

  tails(): string {
    return this.#running.map((program) => program.tail()).join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((program) => program.kill()));
    await this.#guard.dismiss();
  }
}

interface Kubeconfig {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

/** The client of the server, which writes this kubeconfig once it serves. */
async function connect(file: string): Promise<RestClient> {
  await waitUntil('kubeconfig of nlc apiserver', { timeoutMs: startTimeoutMs }, () => existsSync(file));
  const kubeconfig = parse(readFileSync(file, 'utf8')) as Kubeconfig;
  const { server, 'certificate-authority-data': authority } = kubeconfig.clusters[0].cluster;
  const ca = Buffer.from(authority, 'base64').toString();
  return new RestClient({ url: server, ca, token: kubeconfig.users[0].user.token });
}

function kubernetesPrograms(binaries: ControlPlaneBinaries, kubeconfigFile: string): readonly ProgramToStart[] {
  const connections = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'];
  const shared = [
    ...connections.map((flag) => `--${flag}=${kubeconfigFile}`),
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    '--leader-elect=false',
  ];
  const controllers = ['*', ...[...replacedControllers, ...serverControllerNames].map((name) => `-${name}`)].join(',');
  return [
    { name: 'kube-scheduler', file: binaries.kubeScheduler, args: shared },
    {
      name: 'kube-controller-manager',
      file: binaries.kubeControllerManager,
      args: [...shared, `--controllers=${controllers}`],
    },
  ];
}
