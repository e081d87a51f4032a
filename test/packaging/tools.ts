// The programs that check charts, manifests, rules and metrics, and where they lie once built. The folder's name is a hash of everything
// the build reads, as for the control plane's programs.
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const moduleFolder = join(import.meta.dirname, 'tools');

/** Names and packages, all of them tools of the module. */
export const tools = {
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform',
  kustomize: 'sigs.k8s.io/kustomize/kustomize/v5',
  helm: 'helm.sh/helm/v3/cmd/helm',
  promtool: 'github.com/prometheus/prometheus/cmd/promtool',
} as const;
export type Tool = keyof typeof tools;

/** Its custom resource definitions are what the chart's monitors and rules are checked against. Nothing is built from it. */
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

/** Without the tag promtool holds a client of every cloud that Prometheus can discover targets in. */
export const buildFlags: readonly string[] = ['-trimpath', '-ldflags=-s -w', '-tags=remove_all_sd'];

export interface PackagingTools {
  readonly dir: string;
  readonly definitions: readonly string[];
}

/** The folder that holds all of them, or why there is none. */
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
