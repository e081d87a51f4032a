import type { Node } from '../../machinery/api/node.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import { FakeMachine } from './machine/fake-machine.ts';
import { NodeManager } from './node-manager.ts';
import type { NodeOptions } from './node-status/node-options.ts';
import { NodeLogger } from './fleet/node-logger.ts';
import type { PodSource } from './pod-config/pod-update.ts';
import { PodLifecycle } from './pod-lifecycle.ts';
import type { Machine } from './profile.ts';
import { LoopGroup } from './loops/loop-group.ts';
import { ContainerHost, type RebootRemains } from './runtime/container-host.ts';
import type { ScriptRule } from './runtime/build-container-script.ts';
import { uidOf } from './pod-config/classify-pod.ts';

interface HollowKubeletOptions extends Omit<NodeOptions, 'machine' | 'recorder'> {
  readonly machine: Machine;
  /** Pod sources: created for each run of the kubelet, which keeps nothing of the runs before. */
  readonly sources: () => readonly PodSource[];
  /** Records the Events of the node and its pods; none are recorded when absent. */
  readonly recorder?: EventRecorder | undefined;
  /** Called when the node is registered for the first time. */
  readonly onRegistered?: () => void;
}

export interface KubeletStatus {
  readonly name: string;
  readonly registered: boolean;
  /** The last status that was written had Ready=True. */
  readonly ready: boolean;
  /** The node was made unhealthy explicitly. */
  readonly broken: boolean;
  readonly pods: number;
  /** Pod statuses that the API server has not confirmed yet. */
  readonly unwrittenPods: number;
  /** Monotonic time of the last renewal that was confirmed. */
  readonly renewedAtMs: number | undefined;
  /** Problem that the health check of the sync loop reports; undefined while it is healthy. */
  readonly problem: string | undefined;
}

export interface CrashOptions {
  /** Time until the kubelet runs again. */
  readonly downMs?: number;
  /** The machine reboots too, and this is what remains of its containers; absent: they keep running. */
  readonly reboot?: RebootRemains;
}

/** Two crashes at the same moment. */
function bothOf(a: CrashOptions, b: CrashOptions): CrashOptions {
  const reboot = b.reboot ?? a.reboot;
  return { downMs: Math.max(a.downMs ?? 0, b.downMs ?? 0), ...(reboot === undefined ? {} : { reboot }) };
}

/** One run of the kubelet's process. */
interface KubeletRun {
  readonly node: NodeManager;
  readonly pods: PodLifecycle;
}

/**
 * A kubelet without containers: it registers its node, heartbeats, reports the node's status, runs its pods on a fake
 * runtime and completes their deletion. To the API server and its controllers it behaves like a real kubelet. The
 * machine and what runs on it outlive the kubelet's process.
 */
export class HollowKubelet {
  readonly name: string;
  /** Machine of the node; faults are injected here. */
  readonly health: FakeMachine;
  /** The containers on the machine, and the faults of the runtime. */
  readonly host: ContainerHost;
  readonly #options: HollowKubeletOptions;
  /** Node object of this kubelet as the watch delivered it last. */
  #seenNode: Node | undefined;
  #current: KubeletRun;
  #crashOptions: CrashOptions | undefined;
  #running: LoopGroup | undefined;
  /** Until when it is down after a crash; monotonic. Undefined: it runs, or was never started. */
  #downUntilMs: number | undefined;
  /** The machine is down too. */
  #isOff = false;
  #wasRegistered = false;

  constructor(options: HollowKubeletOptions) {
    const { name, machine, clock } = options;
    this.name = name;
    this.health = new FakeMachine(name, machine);
    this.host = new ContainerHost({ clock, podSubnet: machine.podSubnet });
    this.#options = { ...options, logger: new NodeLogger(name, options.logger) };
    this.#current = this.#begin();
  }

  /** The pod part of the kubelet that runs now; replaced at each restart. */
  get pods(): PodLifecycle {
    return this.#current.pods;
  }

  /** Whether something answers at the addresses of the machine and of its pods: no kubelet need run for it. */
  get answers(): boolean {
    return !this.#isOff;
  }

  /** The node part of the kubelet that runs now; replaced at each restart. */
  get node(): NodeManager {
    return this.#current.node;
  }

  /**
   * Runs until the signal aborts, whatever the API server answers. Nothing is cleaned up: node, lease and pods stay as
   * they are, like those of a node that crashed.
   */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#runOnce(signal);
      if (this.#crashOptions === undefined) return;
      await this.#recover(this.#crashOptions, signal);
    }
  }

  /**
   * Ends the kubelet's process at once, and starts another one whose only state is what the API server and the machine
   * have. While it is down, only a reboot of the machine counts: it stays down until the later of both ends. Does nothing
   * before it runs.
   */
  crash(options: CrashOptions = {}): void {
    if (this.#downUntilMs !== undefined && options.reboot !== undefined) this.#goDown(options);
    if (this.#running === undefined) return;
    this.#crashOptions = bothOf(this.#crashOptions ?? {}, options);
    this.#running.stop();
  }

  /** Scripts its containers, across restarts too. Returns the function that removes the rule. */
  script(rule: ScriptRule): () => void {
    return this.#current.pods.runtime.script(rule);
  }

  status(): KubeletStatus {
    const { node, pods } = this.#current;
    return {
      name: this.name,
      registered: node.isRegistered,
      ready: node.isReady,
      broken: this.health.fault !== undefined,
      pods: pods.podCount,
      unwrittenPods: pods.statuses.pending,
      renewedAtMs: node.renewedAtMs,
      problem: pods.problem(this.#options.clock.monotonicMs()),
    };
  }

  #runOnce(signal: AbortSignal): Promise<void> {
    const { node, pods } = this.#current;
    const { runtime, pressure, shutdown } = node;
    const facts = {
      runtime,
      pressure,
      shutdown,
      known: () => this.#ownNode(),
      any: () => this.#ownNode() ?? node.initialNode(),
    };
    const running = new LoopGroup();
    this.#running = running;
    return running.run(signal, [...node.loops(), ...pods.loops(facts)]).finally(() => {
      this.#running = undefined;
    });
  }

  async #recover(options: CrashOptions, signal: AbortSignal): Promise<void> {
    this.#crashOptions = undefined;
    this.#goDown(options);
    while (!signal.aborted && this.#leftMs() > 0) await this.#options.clock.sleep(this.#leftMs(), signal);
    this.#downUntilMs = undefined;
    this.#isOff = false;
    if (!signal.aborted) this.#current = this.#begin();
  }

  #goDown({ downMs = 0, reboot }: CrashOptions): void {
    this.#downUntilMs = Math.max(this.#downUntilMs ?? 0, this.#options.clock.monotonicMs() + downMs);
    if (reboot === undefined) return;
    this.#isOff = true;
    this.host.reboot(reboot);
    this.health.reboot();
  }

  #leftMs(): number {
    return (this.#downUntilMs ?? 0) - this.#options.clock.monotonicMs();
  }

  #begin(): KubeletRun {
    const options = { ...this.#options, recorder: this.#options.recorder ?? silentRecorder };
    const pods = new PodLifecycle({
      ...options,
      sources: options.sources(),
      host: this.host,
      hostIPs: () => [this.health.describe().address],
    });
    const node = new NodeManager({
      ...options,
      machine: this.health,
      runtime: pods.runtime,
      healthChecks: [{ name: 'PLEG', problem: (nowMs) => pods.pleg.problem(nowMs) }],
      activePods: () => pods.activePods(),
      kill: (pod, termination, signal) => pods.terminate(pod, termination, signal),
      isCleanedUp: (pod) => !pods.workers.mayRun(uidOf(pod)),
      onRegistered: () => this.#noteRegistered(),
    });
    return { node, pods };
  }

  /** Undefined while no such node is known. */
  #ownNode(): Node | undefined {
    const listed = this.#options.nodes.get(this.name);
    if (listed !== 'frozen') this.#seenNode = listed;
    return this.#seenNode;
  }

  #noteRegistered(): void {
    if (!this.#wasRegistered) this.#options.onRegistered?.();
    this.#wasRegistered = true;
  }
}

const silentRecorder: EventRecorder = { record() {} };
