// Renders the chart with helm and the manifests with kustomize, as objects.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findTools, type Tool } from '../packaging/programs.ts';

export const root = join(import.meta.dirname, '..', '..');
export const chart = join(root, 'charts', 'node-lifecycle-controller');
export const release = 'node-lifecycle-controller';
export const namespace = 'node-lifecycle-controller';

/** Set explicitly, because a helm that is built from its module assumes Kubernetes 1.20. */
export const kubeVersion = '1.37.0';

export interface KubeManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface ToolResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one of the programs; an exit code other than 0 is a result, not an error. */
export function runTool(tool: Tool, args: readonly string[], input = ''): ToolResult {
  const found = findTools();
  if ('missing' in found) throw new Error(found.missing);
  const { status, stdout, stderr, error } = spawnSync(join(found.dir, tool), args, {
    input,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (error !== undefined) throw error;
  return { code: status ?? -1, stdout, stderr };
}

export interface Rendering {
  readonly release?: string;
  readonly namespace?: string;
  /** Kubernetes version, such as 1.37.0. */
  readonly kubeVersion?: string;
  readonly sets?: readonly string[];
  /** Chart values, as YAML. */
  readonly values?: string;
}

/** `helm template`, as text. */
export function helmTemplate(rendering: Rendering = {}): ToolResult {
  const { release: name = release, sets = [], values = '' } = rendering;
  const { namespace: where = namespace, kubeVersion: version = kubeVersion } = rendering;
  const set = sets.flatMap((text) => ['--set', text]);
  const cluster = [`--namespace=${where}`, `--kube-version=${version}`];
  return runTool('helm', ['template', name, chart, ...cluster, '--values', '-', ...set], values);
}

/** The objects that the chart renders with these values; throws with helm's error. */
export function renderChart(rendering: Rendering = {}): readonly KubeManifest[] {
  return objectsOf(helmTemplate(rendering));
}

export function buildKustomization(folder: string): readonly KubeManifest[] {
  return objectsOf(runTool('kustomize', ['build', join(root, 'manifests', folder)]));
}

function objectsOf({ code, stdout, stderr }: ToolResult): readonly KubeManifest[] {
  if (code !== 0) throw new Error(stderr);
  return parseManifests(stdout);
}

export function parseManifests(text: string): readonly KubeManifest[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => document.toJS() as KubeManifest | null).filter((object) => object !== null);
}

/** The object of this kind and name; throws if there is none. */
export function pick(objects: readonly KubeManifest[], kind: string, name?: string): KubeManifest {
  const found = objects.find((object) => object.kind === kind && (name === undefined || object.metadata.name === name));
  if (found === undefined) throw new Error(`no ${kind} ${name ?? ''}`);
  return found;
}
