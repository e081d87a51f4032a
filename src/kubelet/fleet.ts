import type { Node } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import type { Labels } from '../api/topology.ts';
import type { Informer } from '../informer/informer.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeReader } from '../ports/kube-reader.ts';
import type { KubeWriter } from '../ports/kube-writer.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { deriveMachine } from './derive-machine.ts';
import { nodeInformer, podInformer } from './fleet-informers.ts';
import { HollowKubelet, type KubeletStatus } from './hollow-kubelet.ts';
import { Link } from './link.ts';
import type { StatusSetter } from './node-status/status-setters.ts';
import { ApiSource } from './pod-config/api-source.ts';
import { PodRouter } from './pod-config/pod-router.ts';
import { heartbeatTimeoutMs, type KubeletProfile, modernProfile } from './profile.ts';
import { runTogether } from './run-together.ts';
import { Turnstile } from './turnstile.ts';

/** Nodes begin to register at this rate, however many there are. */
const startsPerSecond = 200;
const registrationsAtOnceMax = 32;

export interface FleetNode {
  readonly name: string;
  readonly labels: Labels;
}

export interface HollowFleetOptions {
  readonly nodes: readonly FleetNode[];
  /** The API server, shared by all; each node reaches it through a cable of its own. */
  readonly api: KubeReader & KubeWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** For the two informers that the fleet shares; nothing is counted when absent. */
  readonly meter?: Meter;
  /** What differs from {@link modernProfile}. */
  readonly profile?: Partial<KubeletProfile>;
  /** Status setters of one's own, for every node. */
  readonly setters?: readonly StatusSetter[];
}

/** How the fleet is doing, as counts of nodes and pods. */
export interface FleetStatus {
  readonly nodes: number;
  readonly registered: number;
  /** Said Ready in the last status that arrived; a node that is cut off keeps counting. */
  readonly ready: number;
  readonly cutOff: number;
  readonly unhealthy: number;
  readonly pods: number;
  /** Pod statuses that the API server has not confirmed yet. */
  readonly unwrittenPods: number;
}

interface Member {
  readonly kubelet: HollowKubelet;
  readonly link: Link;
}

/**
 * Many hollow nodes in one process. They share one watch of pods and one of nodes, start one after another, and
 * heartbeat each at its own phase, which follows from its name. Faults are asked for by node name; a name that is not
 * in the fleet throws a RangeError, and then nothing is done to any of them.
 */
export class HollowFleet {
  readonly #options: HollowFleetOptions;
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  readonly #router: PodRouter;
  readonly #registrations = new Turnstile(registrationsAtOnceMax);
  readonly #members: ReadonlyMap<string, Member>;
  readonly #allRegistered = Promise.withResolvers<void>();
  #registered = 0;

  constructor(options: HollowFleetOptions) {
    this.#options = options;
    const means = { ...options, meter: options.meter ?? silentMeter };
    this.#pods = podInformer(means);
    this.#nodes = nodeInformer(means);
    this.#router = new PodRouter(this.#pods);
    const profile = { ...modernProfile, ...options.profile };
    this.#members = new Map(options.nodes.map((node, index) => [node.name, this.#assemble(node, index, profile)]));
    if (this.#members.size < options.nodes.length) throw new RangeError('two nodes of the fleet have the same name');
    if (this.#members.size === 0) this.#allRegistered.resolve();
  }

  /** Runs all nodes until the signal aborts; resolves when nothing of them runs any more. The API objects stay. */
  async run(signal: AbortSignal): Promise<void> {
    const disconnect = this.#router.connect();
    const kubelets = [...this.#members.values()].map(({ kubelet }, index) => (signal: AbortSignal) => {
      return this.#start(kubelet, index, signal);
    });
    try {
      await runTogether(signal, [(signal) => this.#pods.run(signal), (signal) => this.#nodes.run(signal), ...kubelets]);
    } finally {
      disconnect();
    }
  }

  /** Resolves when every node is registered, or when the signal aborts. */
  async whenRegistered(signal: AbortSignal): Promise<void> {
    const left = Promise.withResolvers<void>();
    const leave = (): void => {
      left.resolve();
    };
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    await Promise.race([this.#allRegistered.promise, left.promise]);
    signal.removeEventListener('abort', leave);
  }

  /** Pulls these nodes' cables: nothing of theirs reaches the API server, and they see nothing of it. They run on. */
  cutOff(names: Iterable<string>): void {
    for (const { link } of this.#find(names)) link.cut();
  }

  /** Puts these nodes' cables in again. They catch up with what there is now. */
  bringBack(names: Iterable<string>): void {
    for (const { link } of this.#find(names)) link.restore();
  }

  /** Each of these kubelets reports itself not ready, with this reason as the message, from its next status on. */
  makeUnhealthy(names: Iterable<string>, reason: string): void {
    for (const { kubelet } of this.#find(names)) kubelet.health.breakDown(reason);
  }

  /** Takes {@link makeUnhealthy} back; conditions set by hand stay. */
  makeHealthy(names: Iterable<string>): void {
    for (const { kubelet } of this.#find(names)) kubelet.health.repair();
  }

  /** A condition such as DiskPressure, reported so from the node's next status on. Ready follows from the health instead. */
  setCondition(names: Iterable<string>, type: string, status: 'True' | 'False'): void {
    if (type === 'Ready') throw new RangeError('Ready follows from the health of the node: use makeUnhealthy');
    for (const { kubelet } of this.#find(names)) kubelet.health.setCondition(type, status === 'True');
  }

  isCutOff(name: string): boolean {
    return this.#find([name]).some(({ link }) => link.isCut);
  }

  /** One node's own view of itself; undefined for a name that is not in the fleet. */
  node(name: string): KubeletStatus | undefined {
    return this.#members.get(name)?.kubelet.status();
  }

  status(): FleetStatus {
    const members = [...this.#members.values()];
    const statuses = members.map(({ kubelet }) => kubelet.status());
    return {
      nodes: members.length,
      registered: statuses.filter((status) => status.registered).length,
      ready: statuses.filter((status) => status.ready).length,
      cutOff: members.filter(({ link }) => link.isCut).length,
      unhealthy: statuses.filter((status) => status.broken).length,
      pods: statuses.reduce((sum, status) => sum + status.pods, 0),
      unwrittenPods: statuses.reduce((sum, status) => sum + status.unwrittenPods, 0),
    };
  }

  async #start(kubelet: HollowKubelet, index: number, signal: AbortSignal): Promise<void> {
    await this.#options.clock.sleep((index * 1_000) / startsPerSecond, signal);
    await kubelet.run(signal);
  }

  #assemble({ name, labels }: FleetNode, index: number, profile: KubeletProfile): Member {
    const { api, clock, random, logger, setters = [] } = this.#options;
    const link = new Link({ api, clock, requestTimeoutMs: heartbeatTimeoutMs(profile) });
    const kubelet = new HollowKubelet({
      name,
      labels,
      machine: deriveMachine(index),
      profile,
      api: link,
      pods: new ApiSource({ nodeName: name, router: this.#router, cable: link }),
      nodes: { get: (key) => (link.isCut ? undefined : this.#nodes.store.get(key)) },
      registrations: this.#registrations,
      onRegistered: () => this.#noteRegistered(),
      setters,
      clock,
      random,
      logger,
    });
    return { kubelet, link };
  }

  #noteRegistered(): void {
    this.#registered += 1;
    if (this.#registered === this.#members.size) this.#allRegistered.resolve();
  }

  #find(names: Iterable<string>): readonly Member[] {
    const wanted = [...names];
    const unknown = wanted.filter((name) => !this.#members.has(name));
    if (unknown.length > 0) throw new RangeError(`not in the fleet: ${unknown.join(', ')}`);
    return wanted.map((name) => this.#members.get(name)).filter((member) => member !== undefined);
  }
}

const silentMeter: Meter = {
  add() {},
  set() {},
  observe() {},
  forget() {},
};
