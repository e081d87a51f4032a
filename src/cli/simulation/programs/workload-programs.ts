// kube-scheduler and kube-controller-manager, as released, against any API server: what makes pods of Deployments and
// places them. Without the controllers that this project replaces.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { Guard } from './guard.ts';
import { Program } from './program.ts';
import { assetsFolder, buildsFolder } from './program-finder.ts';

export const workloadPrograms = ['kube-scheduler', 'kube-controller-manager'] as const;
type WorkloadProgram = (typeof workloadPrograms)[number];
export type WorkloadFiles = ReadonlyMap<WorkloadProgram, string>;

const release = 'v1.37.2';

/** Why they are not found, and how to get them. */
export function programsMissing(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const assets = assetsFolder(env);
  const where = assets === undefined ? `${buildsFolder(env)}/* or on the PATH` : `KUBEBUILDER_ASSETS (${assets})`;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const names = workloadPrograms.join(' and ');
  const download = `https://dl.k8s.io/release/${release}/bin/linux/${arch}/kube-scheduler and .../kube-controller-manager`;
  return `${names} not found in ${where}; download them (${download}), or build them in a checkout with Go: npm run control-plane`;
}

/**
 * Controllers of kube-controller-manager that run; node lifecycle, taint eviction and pod garbage collection are not
 * among them.
 */
const workloadControllers: readonly string[] = [
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'daemonset-controller',
  'disruption-controller',
  'endpointslice-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'garbage-collector-controller',
];

interface WorkloadProgramsOptions {
  readonly files: WorkloadFiles;
  readonly kubeconfigFile: string;
  /** Folder of logs; created, and removed at the end. */
  readonly folder: string;
  readonly clock: Clock;
  /** Default: false. */
  readonly leaderElect?: boolean;
}

export class WorkloadPrograms {
  /** Logs are `NAME.log` in it. */
  readonly folder: string;
  readonly #guard: Guard;
  readonly #programs: readonly Program[];

  private constructor(folder: string, guard: Guard, programs: readonly Program[]) {
    this.folder = folder;
    this.#guard = guard;
    this.#programs = programs;
  }

  /** Rejects if a program cannot be started; that they work shows in what they write. */
  static async start(options: WorkloadProgramsOptions): Promise<WorkloadPrograms> {
    const { files, folder, clock } = options;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const guard = new Guard(folder);
    const programs: Program[] = [];
    try {
      for (const [name, file] of files) {
        const about = { name, file, args: argumentsOf(name, options), folder, guard, clock };
        programs.push(await Program.start({ ...about, logFile: join(folder, `${name}.log`) }));
      }
    } catch (error) {
      await guard.dismiss();
      throw error;
    }
    return new WorkloadPrograms(folder, guard, programs);
  }

  get running(): readonly { readonly file: string; readonly pid: number }[] {
    return this.#programs;
  }

  /** Program that ended by itself, with the end of its log; undefined while all run. */
  failure(): string | undefined {
    return this.#programs.map((program) => program.failure()).find((failure) => failure !== undefined);
  }

  /** Stops the programs by their process ids and removes the folder. */
  async stop(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop()));
    await this.#guard.dismiss();
  }
}

function argumentsOf(name: WorkloadProgram, options: WorkloadProgramsOptions): readonly string[] {
  const { kubeconfigFile, leaderElect = false } = options;
  const shared = [
    ...['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
      (flag) => `--${flag}=${kubeconfigFile}`,
    ),
    '--bind-address=127.0.0.1',
    // No pages: no port to choose, no certificate to make.
    '--secure-port=0',
    `--leader-elect=${leaderElect}`,
  ];
  return name === 'kube-scheduler' ? shared : [...shared, ...managerArguments(options.folder)];
}

function managerArguments(folder: string): readonly string[] {
  return [`--controllers=${workloadControllers.join(',')}`, `--cert-dir=${join(folder, 'certificates')}`];
}
