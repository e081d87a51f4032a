// Finds the programs of the control plane. KUBEBUILDER_ASSETS, as in other Kubernetes projects, takes precedence over the
// programs built here.
import { delimiter, join } from 'node:path';
import { assetsFolder, isExecutable } from '../../src/cli/simulation/programs/program-finder.ts';
import { defaultVersion } from './kubernetes-version.ts';
import { controlPlaneBuild } from './programs.ts';

export interface ControlPlaneBinaries {
  readonly dir: string;
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
  readonly kubeScheduler: string;
  readonly kubectl: string;
  /** Only of the default version, and in `KUBEBUILDER_ASSETS`. */
  readonly kubemark: string | undefined;
}

/** No control plane was found; `missing` is the error message. */
interface NoControlPlane {
  readonly missing: string;
}

/**
 * Finds all programs in one folder: `KUBEBUILDER_ASSETS` if it is set, otherwise the cache folder of the build of the selected
 * version.
 */
export function findControlPlane(): ControlPlaneBinaries | NoControlPlane {
  const given = assetsFolder();
  const { version, programs, cacheFolder } = controlPlaneBuild();
  const dir = given ?? cacheFolder;
  const missing = programs.filter((program) => !isExecutable(join(dir, program)));
  if (missing.length === 0) return binariesIn(dir);
  const what = `${missing.join(', ')} not found in ${dir}`;
  const option = version === defaultVersion ? '' : ` -- --kubernetes ${version}`;
  return {
    missing: given === undefined ? `${what}: run \`npm run control-plane${option}\`` : `KUBEBUILDER_ASSETS: ${what}`,
  };
}

/** Finds only kubectl: in `KUBEBUILDER_ASSETS`, in the cache folder, or on the `PATH`. */
export function findKubectl(): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  return [assetsFolder(), controlPlaneBuild().cacheFolder, ...onPath]
    .filter((folder) => folder !== undefined)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'kubectl'))
    .find(isExecutable);
}

function binariesIn(dir: string): ControlPlaneBinaries {
  return {
    dir,
    etcd: join(dir, 'etcd'),
    kubeApiserver: join(dir, 'kube-apiserver'),
    kubeControllerManager: join(dir, 'kube-controller-manager'),
    kubeScheduler: join(dir, 'kube-scheduler'),
    kubectl: join(dir, 'kubectl'),
    kubemark: isExecutable(join(dir, 'kubemark')) ? join(dir, 'kubemark') : undefined,
  };
}
