import type { Pod } from '../api/pod.ts';
import type { Labels } from '../api/topology.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { KubeReader } from '../ports/kube-reader.ts';
import type { KubeWriter } from '../ports/kube-writer.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import { FakeMachine } from './machine/fake-machine.ts';
import { NodeSide } from './node-status/node-side.ts';
import type { StatusSetter } from './node-status/setter-context.ts';
import type { NodeLister } from './node-status/status-publisher.ts';
import { NodeLogger } from './node-logger.ts';
import { OwnNode } from './own-node.ts';
import type { PodSource } from './pod-config/pod-source.ts';
import { PodSide } from './pod-side.ts';
import type { KubeletProfile, Machine } from './profile.ts';
import { LoopGroup } from './loop-group.ts';
import { ContainerHost, type RebootRemains } from './runtime/container-host.ts';
import type { ScriptRule } from './runtime/derive-container-script.ts';
import type { Turnstile } from './turnstile.ts';

export interface HollowKubeletOptions {
  readonly name: string;
  readonly labels: Labels;
  readonly machine: Machine;
  readonly profile: KubeletProfile;
  readonly api: KubeReader & KubeWriter;
  /** Where its pods come from: made anew for each life of the kubelet, which knows nothing of those before. */
  readonly sources: () => readonly PodSource[];
  /** Its own node as a watch shows it. */
  readonly nodes: NodeLister;
  /** Shared by the fleet: bounds how many register at once. */
  readonly registrations: Turnstile;
  /** Called once, when the API server knows the node. */
  readonly onRegistered?: () => void;
  /** Called after the second and each further heartbeat of a row that failed: the connection may be at fault. */
  readonly onRepeatedFailure?: () => void;
  /** Status setters of one's own; they run before Ready. */
  readonly setters?: readonly StatusSetter[];
  /** Told of what happens to the node and its pods; nobody is told when absent. */
  readonly recorder?: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface KubeletStatus {
  readonly name: string;
  readonly registered: boolean;
  /** Its last status that arrived said Ready. */
  readonly ready: boolean;
  /** Somebody made it unhealthy. */
  readonly broken: boolean;
  readonly pods: number;
  /** Pod statuses that the API server has not confirmed yet. */
  readonly unwrittenPods: number;
  /** Monotonic time of the last renewal that was confirmed. */
  readonly renewedAtMs: number | undefined;
  /** What the health check of its sync loop says; undefined while that is alive. */
  readonly problem: string | undefined;
}

export interface Outage {
  /** How long until the kubelet is up again. */
  readonly downMs?: number;
  /** The machine goes down with it, and this is left of its containers; absent: they run on. */
  readonly reboot?: RebootRemains;
}

/** One life of the kubelet's process. */
interface Life {
  readonly node: NodeSide;
  readonly pods: PodSide;
}

/**
 * A kubelet without containers: it registers its node, heartbeats, reports the node's status, runs its pods on a fake
 * runtime and finishes their deletion. Real in all that an API server and its controllers see. The machine and what runs
 * on it outlive the kubelet's process.
 */
export class HollowKubelet {
  readonly name: string;
  /** Its machine; break it here. */
  readonly health: FakeMachine;
  /** What runs on the machine, and what is the matter with the runtime. */
  readonly host: ContainerHost;
  readonly #options: HollowKubeletOptions;
  readonly #ownNode: OwnNode;
  #life: Life;
  #outage: Outage | undefined;
  #running: LoopGroup | undefined;
  #wasRegistered = false;
  /** By rule, the way to take it back from the kubelet that runs now. */
  #scripts: Map<ScriptRule, () => void> | undefined;

  /** Throws a RangeError for a profile or setters that make no sense. */
  constructor(options: HollowKubeletOptions) {
    const { name, machine, clock, nodes } = options;
    this.name = name;
    this.health = new FakeMachine(name, machine);
    this.host = new ContainerHost({ clock, podSubnet: machine.podSubnet });
    this.#options = { ...options, logger: new NodeLogger(name, options.logger) };
    this.#ownNode = new OwnNode(name, nodes);
    this.#life = this.#begin();
  }

  /** The pods' side of the kubelet that runs now; another one after each restart. */
  get pods(): PodSide {
    return this.#life.pods;
  }

  /** The node's side of the kubelet that runs now; another one after each restart. */
  get node(): NodeSide {
    return this.#life.node;
  }

  /**
   * Lives until the signal aborts, through everything that the API server answers or does not. No good-byes: node, lease
   * and pods stay as they are, and look like those of a node that crashed.
   */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#live(signal);
      if (this.#outage === undefined) return;
      await this.#recover(this.#outage, signal);
    }
  }

  /**
   * Ends the kubelet's process where it stands, and starts another one that knows only what the API server and the
   * machine know. Does nothing while it does not run.
   */
  crash(outage: Outage = {}): void {
    if (this.#running === undefined) return;
    this.#outage = outage;
    this.#running.stop();
  }

  /** Scripts its containers, through restarts too. Returns the way to take it back. */
  script(rule: ScriptRule): () => void {
    const scripts = (this.#scripts ??= new Map<ScriptRule, () => void>());
    scripts.set(rule, this.#life.pods.runtime.script(rule));
    return () => {
      scripts.get(rule)?.();
      scripts.delete(rule);
    };
  }

  status(): KubeletStatus {
    const { node, pods } = this.#life;
    return {
      name: this.name,
      registered: node.isRegistered,
      ready: node.isReady,
      broken: this.health.isBroken,
      pods: pods.podCount,
      unwrittenPods: pods.statuses.pending,
      renewedAtMs: node.renewedAtMs,
      problem: pods.problem(this.#options.clock.monotonicMs()),
    };
  }

  #live(signal: AbortSignal): Promise<void> {
    const { node, pods } = this.#life;
    const { runtime, pressure, shutdown } = node;
    const facts = {
      runtime,
      pressure,
      shutdown,
      known: () => this.#ownNode.get(),
      any: async () => this.#ownNode.get() ?? (await node.initialNode()),
    };
    const running = new LoopGroup();
    this.#running = running;
    return running.run(signal, [...node.loops(), ...pods.loops(facts)]).finally(() => {
      this.#running = undefined;
    });
  }

  async #recover({ downMs = 0, reboot }: Outage, signal: AbortSignal): Promise<void> {
    this.#outage = undefined;
    if (reboot !== undefined) {
      this.host.reboot(reboot);
      this.health.reboot();
    }
    await this.#options.clock.sleep(downMs, signal);
    if (signal.aborted) return;
    this.#life = this.#begin();
    for (const rule of this.#scripts?.keys() ?? []) this.#scripts?.set(rule, this.#life.pods.runtime.script(rule));
  }

  #begin(): Life {
    const { name, labels, profile, api, clock, random, logger, recorder = silentRecorder } = this.#options;
    const { nodes, registrations, setters, onRepeatedFailure, sources } = this.#options;
    const means = { name, profile, api, recorder, clock, random, logger };
    const pods = new PodSide({ ...means, sources: sources(), host: this.host, hostIPs: () => this.#addresses() });
    const node = new NodeSide({
      ...means,
      labels,
      nodes,
      registrations,
      ...(setters === undefined ? {} : { setters }),
      ...(onRepeatedFailure === undefined ? {} : { onRepeatedFailure }),
      machine: this.health,
      runtime: pods.runtime,
      healthChecks: [{ name: 'PLEG', problem: (nowMs) => pods.relister.problem(nowMs) }],
      activePods: () => pods.activePods(),
      kill: (pod, verdict, signal) => pods.end(pod, verdict, signal),
      isCleanedUp: (pod) => this.#isCleanedUp(pods, pod),
      onRegistered: () => this.#noteRegistered(),
    });
    return { node, pods };
  }

  #addresses(): readonly string[] {
    const { address, secondAddress } = this.health.describe();
    return secondAddress === undefined ? [address] : [address, secondAddress];
  }

  #isCleanedUp({ workers }: PodSide, pod: Pod): boolean {
    return !workers.mayRun(pod.metadata.uid ?? '');
  }

  #noteRegistered(): void {
    if (!this.#wasRegistered) this.#options.onRegistered?.();
    this.#wasRegistered = true;
  }
}

const silentRecorder: EventRecorder = { record() {} };
