// The programs that check the chart, manifests, rules and metrics, and the folder of the built programs. The name of the
// folder is a hash of all inputs of the build, as for the programs of the control plane.
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const moduleFolder = import.meta.dirname;

/** Names and packages; all are tools of the module. */
export const tools = {
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform',
  kustomize: 'sigs.k8s.io/kustomize/kustomize/v5',
  helm: 'helm.sh/helm/v3/cmd/helm',
  promtool: 'github.com/prometheus/prometheus/cmd/promtool',
} as const;
export type Tool = keyof typeof tools;

/** The module with the custom resource definitions against which monitors and rules are checked. Nothing is built from it. */
export const prometheusOperator = {
  module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
  sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
  folder: 'example/prometheus-operator-crd',
  files: [
    'monitoring.coreos.com_servicemonitors.yaml',
    'monitoring.coreos.com_podmonitors.yaml',
    'monitoring.coreos.com_prometheusrules.yaml',
  ],
} as const;

/** The tag removes the service discovery clients of all clouds from promtool. */
export const buildFlags: readonly string[] = ['-trimpath', '-ldflags=-s -w', '-tags=remove_all_sd'];

interface PackagingTools {
  readonly dir: string;
  readonly definitions: readonly string[];
}

/** The folder with all programs, or the reason why they are missing. */
export function findTools(): PackagingTools | { readonly missing: string } {
  const dir = cacheFolder();
  const definitions = prometheusOperator.files.map((file) => join(dir, file));
  const lacking = Object.keys(tools).filter((name) => !isExecutable(join(dir, name)));
  if (lacking.length > 0 || !definitions.every((file) => existsSync(file)))
    return { missing: `${lacking.join(', ')} not found in ${dir}: run \`npm run packaging-tools\`` };
  return { dir, definitions };
}

export function cacheFolder(): string {
  const root = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(root, 'node-lifecycle-controller', 'packaging', buildHash());
}

function buildHash(): string {
  const words = [process.platform, process.arch, ...buildFlags, JSON.stringify(prometheusOperator)];
  const hash = createHash('sha256').update(words.join(' '));
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(moduleFolder, file)));
  return hash.digest('hex').slice(0, 16);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
