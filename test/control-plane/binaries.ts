// Where the programs of the control plane are. KUBEBUILDER_ASSETS, the variable that other Kubernetes projects use too,
// wins over what was built here.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cacheFolder, type Program, programs } from './programs.ts';

export interface ControlPlaneBinaries {
  readonly dir: string;
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
  readonly kubectl: string;
  readonly kubemark: string;
}

/** Why there is no control plane, in a sentence for the person who asked for one. */
export interface NoControlPlane {
  readonly missing: string;
}

/** Finds all programs in one folder: `KUBEBUILDER_ASSETS` if that is set, otherwise the build's own folder. */
export function findControlPlane(): ControlPlaneBinaries | NoControlPlane {
  const given = givenFolder();
  const dir = given ?? cacheFolder();
  const missing = missingIn(dir);
  if (missing.length === 0) return binariesIn(dir);
  const what = `${missing.join(', ')} not found in ${dir}`;
  return { missing: given === undefined ? `${what}: run \`npm run control-plane\`` : `KUBEBUILDER_ASSETS: ${what}` };
}

/** Finds kubectl alone: in `KUBEBUILDER_ASSETS`, among what was built here, or on the `PATH`. */
export function findKubectl(): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  return [givenFolder(), cacheFolder(), ...onPath]
    .filter((folder) => folder !== undefined)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'kubectl'))
    .find(isExecutable);
}

/** The folder that `KUBEBUILDER_ASSETS` names, if it names one. */
export function givenFolder(): string | undefined {
  return process.env['KUBEBUILDER_ASSETS'] || undefined;
}

/** The programs that a folder lacks. */
export function missingIn(folder: string): readonly Program[] {
  return programs.filter((program) => !isExecutable(join(folder, program)));
}

function binariesIn(dir: string): ControlPlaneBinaries {
  return {
    dir,
    etcd: join(dir, 'etcd'),
    kubeApiserver: join(dir, 'kube-apiserver'),
    kubeControllerManager: join(dir, 'kube-controller-manager'),
    kubectl: join(dir, 'kubectl'),
    kubemark: join(dir, 'kubemark'),
  };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
