// The two kubelets that are compared, each as a program that can be started and stopped.
import { closeSync, mkdtempSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { hollowNodesFlags } from '../../../src/cli/simulation/hollow-nodes/flags.ts';
import { defaultVersion } from '../../../tools/control-plane/kubernetes-version.ts';
import { NlcProcess } from '../../support/nlc-process.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { ProgramRun } from '../program-run.ts';

const logTailLength = 2_000;

/** An additional label of both nodes. */
const label = 'topology.kubernetes.io/zone=z1';

/** A kubelet that records Events also reads the kernel messages for OOM kills. */
export const recordsEvents: boolean = canReadKernelMessages();

export interface Kubelet {
  /** Required flags that the program does not have. */
  readonly lackingFlags: readonly string[];
  start(): Promise<void>;
  /** Stops it with SIGTERM. */
  stop(): Promise<void>;
  /** The error if it has exited by itself. */
  failure(): string | undefined;
}

export interface KubeletOptions {
  readonly plane: ControlPlane;
  readonly kubeconfigFile: string;
  /** The node is `PREFIX-0`, as nlc hollow-nodes names it. */
  readonly namePrefix: string;
  readonly staticPodFolder: string;
  readonly staticPodUrl: string;
}

export class RealKubelet implements Kubelet {
  readonly lackingFlags = [];
  readonly #options: KubeletOptions;
  #run: ProgramRun | undefined;

  constructor(options: KubeletOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { plane, kubeconfigFile, namePrefix, staticPodFolder, staticPodUrl } = this.#options;
    const { kubemark } = plane.binaries;
    if (kubemark === undefined) throw new Error(`kubemark is only built for Kubernetes ${defaultVersion}`);
    this.#run = await plane.startProgram('kubemark', kubemark, [
      `--name=${namePrefix}-0`,
      `--kubeconfig=${kubeconfigFile}`,
      `--folder=${mkdtempSync(join(plane.folder, 'kubelet-'))}`,
      `--static-pods=${staticPodFolder}`,
      `--static-pod-url=${staticPodUrl}`,
      `--label=${label}`,
      `--events=${recordsEvents}`,
    ]);
  }

  async stop(): Promise<void> {
    await this.#run?.terminate();
    this.#run = undefined;
  }

  failure(): string | undefined {
    return this.#run?.hasEnded === true ? this.#run.tail() : undefined;
  }
}

export class HollowKubelet implements Kubelet {
  readonly lackingFlags: readonly string[];
  readonly #args: readonly string[];
  #running: NlcProcess | undefined;

  constructor({ kubeconfigFile, namePrefix, staticPodFolder, staticPodUrl }: KubeletOptions) {
    // The same settings as the real kubelet.
    const wanted = {
      nodes: '1',
      zones: '0',
      'name-prefix': namePrefix,
      'node-labels': label,
      kubeconfig: kubeconfigFile,
      'log-format': 'json',
      'pod-manifest-path': staticPodFolder,
      'file-check-frequency': '20s',
      'manifest-url': staticPodUrl,
      'http-check-frequency': '5s',
    };
    const known = new Set<string>(hollowNodesFlags.map(({ name }) => name));
    this.lackingFlags = Object.keys(wanted).filter((name) => !known.has(name));
    this.#args = Object.entries(wanted).flatMap(([name, value]) => (known.has(name) ? [`--${name}=${value}`] : []));
  }

  async start(): Promise<void> {
    this.#running = new NlcProcess(['hollow-nodes', ...this.#args]);
  }

  async stop(): Promise<void> {
    await this.#running?.terminate();
    this.#running = undefined;
  }

  failure(): string | undefined {
    if (this.#running?.hasEnded !== true) return undefined;
    return `nlc hollow-nodes has exited\n${this.#running.stderr.slice(-logTailLength)}`;
  }
}

function canReadKernelMessages(): boolean {
  try {
    closeSync(openSync('/dev/kmsg', 'r'));
    return true;
  } catch {
    return false;
  }
}
