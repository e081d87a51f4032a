// All nodes of the bench: renews their leases on schedule and posts their status every five minutes, except those that are
// silenced.
import { setTimeout as sleep } from 'node:timers/promises';
import { podNames } from './cluster-names.ts';
import { forEachConcurrently } from './for-each-concurrently.ts';
import type { LoadMeter } from './load-meter.ts';
import { type LastHeartbeats, unixMs } from './load-protocol.ts';
import type { LoadRequests } from './load-requests.ts';
import { RenewalSchedule } from './renewal-schedule.ts';

const statusEveryMs = 300_000;
/** Timers are not more exact than this. */
const timerMs = 1;
const restartsAtOnce = 64;

interface Kubelet {
  leaseVersion: string;
  /** When the last heartbeat was accepted: a renewal, or a status, which is one too. */
  heartbeatAtMs: number;
  isSilent: boolean;
  renewing: Promise<void> | undefined;
  posting: Promise<void> | undefined;
}

interface KubeletsOptions {
  readonly requests: LoadRequests;
  readonly meter: LoadMeter;
  readonly podsPerNode: number;
}

export class Kubelets {
  readonly #options: KubeletsOptions;
  readonly #kubelets = new Map<string, Kubelet>();
  #isRunning = false;
  #isPaused = false;

  constructor(options: KubeletsOptions) {
    this.#options = options;
  }

  add(node: string, leaseVersion: string): void {
    const idle = { isSilent: false, renewing: undefined, posting: undefined };
    this.#kubelets.set(node, { leaseVersion, heartbeatAtMs: unixMs(), ...idle });
  }

  /** Runs until the process ends. */
  run(): void {
    this.#isPaused = false;
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#renew();
    void this.#postStatus();
  }

  /** Resolves when no heartbeat is in flight. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await answered([...this.#kubelets.values()]);
  }

  async silence(nodes: readonly string[]): Promise<LastHeartbeats> {
    const kubelets = nodes.map((node) => this.#kubelet(node));
    for (const kubelet of kubelets) kubelet.isSilent = true;
    await answered(kubelets);
    return Object.fromEntries(nodes.map((node) => [node, this.#kubelet(node).heartbeatAtMs]));
  }

  /** Resolves when all nodes and their pods have reported that they are ready. */
  async resume(nodes: readonly string[]): Promise<void> {
    const { requests, podsPerNode } = this.#options;
    for (const node of nodes) this.#kubelet(node).isSilent = false;
    await forEachConcurrently(nodes, restartsAtOnce, async (node) => {
      await Promise.all([this.#renewOnce(node, this.#kubelet(node)), requests.postNode(node, false)]);
    });
    const pods = nodes.flatMap((node) => podNames(node, podsPerNode));
    await forEachConcurrently(pods, restartsAtOnce, (pod) => requests.postPod(pod));
  }

  async #renew(): Promise<void> {
    const schedule = new RenewalSchedule([...this.#kubelets.keys()], performance.now());
    for (;;) {
      const { node, atMs } = schedule.next();
      const waitMs = atMs - performance.now();
      if (waitMs >= timerMs) await sleep(waitMs);
      this.#startRenewal(node, Math.max(0, performance.now() - atMs));
    }
  }

  #startRenewal(node: string, lateMs: number): void {
    const kubelet = this.#kubelet(node);
    if (this.#isPaused || kubelet.isSilent) return;
    if (kubelet.renewing !== undefined) return this.#options.meter.skipped();
    this.#options.meter.sent(lateMs);
    void this.#renewOnce(node, kubelet);
  }

  #renewOnce(node: string, kubelet: Kubelet): Promise<void> {
    kubelet.renewing ??= this.#requestRenewal(node, kubelet).finally(() => {
      kubelet.renewing = undefined;
    });
    return kubelet.renewing;
  }

  async #requestRenewal(node: string, kubelet: Kubelet): Promise<void> {
    const { requests, meter } = this.#options;
    const sentAtMs = performance.now();
    try {
      kubelet.leaseVersion = await requests.renewLease(node, kubelet.leaseVersion);
      kubelet.heartbeatAtMs = unixMs();
      meter.renewed(performance.now() - sentAtMs);
    } catch (error) {
      meter.failed(error);
    }
  }

  async #postStatus(): Promise<void> {
    const nodes = [...this.#kubelets];
    for (let next = 0; ; next = (next + 1) % nodes.length) {
      await sleep(statusEveryMs / nodes.length);
      const [node = '', kubelet] = nodes[next] ?? [];
      if (kubelet === undefined || kubelet.isSilent || this.#isPaused) continue;
      kubelet.posting = this.#postOnce(node, kubelet);
    }
  }

  async #postOnce(node: string, kubelet: Kubelet): Promise<void> {
    const { requests, meter } = this.#options;
    try {
      await requests.postNode(node, true);
      kubelet.heartbeatAtMs = unixMs();
    } catch (error) {
      meter.failed(error);
    }
  }

  #kubelet(node: string): Kubelet {
    const kubelet = this.#kubelets.get(node);
    if (kubelet === undefined) throw new Error(`${node}: not registered`);
    return kubelet;
  }
}

/** Resolves when no heartbeat of these nodes is in flight. */
async function answered(kubelets: readonly Kubelet[]): Promise<void> {
  for (const { renewing, posting } of kubelets) await Promise.all([renewing, posting]);
}
