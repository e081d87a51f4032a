// A cluster on loopback for the e2e tests of Kubernetes: an API server, kube-scheduler, kube-controller-manager without the
// controllers that this project replaces, `nlc controller` in their place, and hollow nodes.
import { join } from 'node:path';
import type { KubeJson, RestClient } from '../../control-plane/rest-client.ts';
import { waitUntil } from '../../control-plane/wait-until.ts';

export const nodeCount = 4;
const readyTimeoutMs = 120_000;
const nlcMain = join(import.meta.dirname, '..', '..', '..', 'src', 'cli', 'main.ts');

export interface Cluster extends AsyncDisposable {
  readonly kubeconfigFile: string;
  readonly kubectl: string;
  /** Folder with the logs of all programs; removed at the end. */
  readonly folder: string;
  readonly client: RestClient;
}

/** A program to start: what to run, and its name in messages and for its log. */
export interface ProgramToStart {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
}

/** Arguments of Node.js for a command of this project. */
export function nlc(name: string, command: string, args: readonly string[]): ProgramToStart {
  return { name, file: process.execPath, args: [nlcMain, command, '--log-format=text', ...args] };
}

/** Controllers of kube-controller-manager that do not run: this project has them. */
export const replacedControllers = [
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'pod-garbage-collector-controller',
] as const;

const missingImages = ['webserver:404', 'localhost/some-image-that-doesnt-exist', 'foo:non-existent'] as const;

/** `nlc controller` and `nlc hollow-nodes`, as users start them. */
export function productPrograms(kubeconfigFile: string): readonly ProgramToStart[] {
  return [
    nlc('nlc-controller', 'controller', [
      `--kubeconfig=${kubeconfigFile}`,
      `--controllers=*,pod-garbage-collector-controller`,
      '--leader-elect=false',
      '--metrics-bind-address=0',
      '--health-probe-bind-address=0',
      // Kubernetes sets this for its e2e tests, one of which waits until terminated pods above it are gone.
      '--terminated-pod-gc-threshold=100',
    ]),
    nlc('nlc-hollow-nodes', 'hollow-nodes', [
      `--kubeconfig=${kubeconfigFile}`,
      `--nodes=${nodeCount}`,
      '--zones=2',
      '--pod-start-delay=200ms',
      '--pod-stop-delay=200ms',
      // The images of tests that need one that does not exist.
      `--unpullable-images=${missingImages.join(',')}`,
      // One limit for all nodes; the tests expect the Events of pods soon.
      '--event-qps=0',
    ]),
  ];
}

/** Waits until all hollow nodes are ready and free of taints. */
export async function nodesReady(client: RestClient): Promise<void> {
  await waitUntil('ready nodes without taints', { timeoutMs: readyTimeoutMs, pollMs: 500 }, async () => {
    const { items } = await client.must<{ readonly items: readonly KubeJson[] }>('GET', '/api/v1/nodes');
    return items.length === nodeCount && items.every(isSchedulable);
  });
}

function isSchedulable(node: KubeJson): boolean {
  const { spec, status } = node as {
    readonly spec?: { readonly taints?: readonly unknown[] };
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  };
  const ready = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  return ready === true && (spec?.taints ?? []).length === 0;
}
