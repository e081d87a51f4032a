// The two kubelets that are compared, each as a program that can be started and stopped.
import { closeSync, mkdtempSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { hollowNodesFlags } from '../../../src/cli/hollow-nodes-flags.ts';
import { NlcProcess } from '../../support/nlc-process.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { ProgramRun } from '../program-run.ts';

const logTailLength = 2_000;

/** Both carry this label, and nothing else that is not their own. */
const label = 'topology.kubernetes.io/zone=z1';

/** A kubelet that tells events also looks in the kernel's messages for processes that ran out of memory. */
export const tellsEvents: boolean = canReadKernelMessages();

export interface Kubelet {
  /** Flags that it would have to be given and does not have. */
  readonly lackingFlags: readonly string[];
  start(): Promise<void>;
  /** As a service manager stops it. */
  stop(): Promise<void>;
  /** Why it cannot go on, if it has ended by itself. */
  failure(): string | undefined;
}

export interface KubeletOptions {
  readonly plane: ControlPlane;
  readonly kubeconfigFile: string;
  /** `NAME-0`: ours counts. */
  readonly namePrefix: string;
  readonly staticPodFolder: string;
  readonly staticPodUrl: string;
}

export class ReferenceKubelet implements Kubelet {
  readonly lackingFlags = [];
  readonly #options: KubeletOptions;
  #run: ProgramRun | undefined;

  constructor(options: KubeletOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { plane, kubeconfigFile, namePrefix, staticPodFolder, staticPodUrl } = this.#options;
    this.#run = await plane.startProgram('kubemark', plane.binaries.kubemark, [
      `--name=${namePrefix}-0`,
      `--kubeconfig=${kubeconfigFile}`,
      `--folder=${mkdtempSync(join(plane.folder, 'kubelet-'))}`,
      `--static-pods=${staticPodFolder}`,
      `--static-pod-url=${staticPodUrl}`,
      `--label=${label}`,
      `--events=${tellsEvents}`,
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

export class OurKubelet implements Kubelet {
  readonly lackingFlags: readonly string[];
  readonly #args: readonly string[];
  #running: NlcProcess | undefined;

  constructor({ kubeconfigFile, namePrefix, staticPodFolder, staticPodUrl }: KubeletOptions) {
    // What the reference has, too.
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
    return `ours has ended\n${this.#running.stderr.slice(-logTailLength)}`;
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
