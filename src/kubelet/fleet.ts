import { ApiError } from '../api/api-error.ts';
import type { Node } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import type { Labels } from '../api/topology.ts';
import type { Informer } from '../informer/informer.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { KubeReader } from '../ports/kube-reader.ts';
import type { KubeWriter } from '../ports/kube-writer.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { deriveMachine } from './derive-machine.ts';
import { derivePhase } from './derive-phase.ts';
import { FaultBoard } from './faults/fault-board.ts';
import type { GroundTruth } from './faults/ground-truth.ts';
import type { FaultyNode } from './faults/node-faults.ts';
import { nodeInformer, podInformer } from './fleet-informers.ts';
import { HollowKubelet, type KubeletStatus, type Outage } from './hollow-kubelet.ts';
import { Link } from './link.ts';
import { nodeRequestsTotal } from './metrics.ts';
import type { NetworkRequest } from './network-rule.ts';
import type { StatusSetter } from './node-status/setter-context.ts';
import { ApiSource } from './pod-config/api-source.ts';
import type { PodSource } from './pod-config/pod-source.ts';
import { PodRouter } from './pod-config/pod-router.ts';
import { completeProfile, heartbeatTimeoutMs, type KubeletProfile, type Machine } from './profile.ts';
import { runTogether } from './run-together.ts';
import { SkewedClock } from './skewed-clock.ts';
import { Turnstile } from './turnstile.ts';

/** Nodes begin to register at this rate, however many there are. */
const startsPerSecond = 200;
const registrationsAtOnceMax = 32;
/** What failing heartbeats may ask for at most, however many nodes they are of. */
const repeatedFailureMsMin = 10_000;

export interface FleetNode {
  readonly name: string;
  readonly labels: Labels;
}

export interface HollowFleetOptions {
  readonly nodes: readonly FleetNode[];
  /** The API server, shared by all; each node reaches it through a cable of its own. */
  readonly api: KubeReader & KubeWriter;
  /** A lane of their own for heartbeats; the same when absent. */
  readonly heartbeatApi?: KubeReader & KubeWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** For the two informers that the fleet shares and what its nodes ask for; nothing is counted when absent. */
  readonly meter?: Meter;
  /** What differs from the modern profile, or from the classic one if that is its kind. */
  readonly profile?: Partial<KubeletProfile>;
  /** What differs from the usual machine, on every node. */
  readonly machine?: Partial<Pick<Machine, 'cpuCores' | 'memoryMiB' | 'ephemeralStorageMiB' | 'podsMax'>>;
  /** Nodes start spread over this time, each at a point that its name decides; 200 a second when absent. */
  readonly rampMs?: number;
  /** Decides what faults leave to chance; 1 when absent. */
  readonly seed?: number;
  /** Told of everything that faults really do to nodes. */
  readonly tell?: (truth: GroundTruth) => void;
  /** Heartbeats fail again and again, of this node for one: the connections may be dead. Called no more than once in 10 s. */
  readonly onRepeatedFailure?: (node: string) => void;
  /** Status setters of one's own, for every node. */
  readonly setters?: readonly StatusSetter[];
  /** Where a node's pods come from beside the API server, by its name; asked again each time its kubelet starts. */
  readonly sources?: (nodeName: string) => readonly PodSource[];
  /** Who tells the events of a node's kubelet, by its name; nobody does when absent. */
  readonly recorder?: (nodeName: string) => EventRecorder;
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
  /** Lease renewals that the API server has confirmed, since the start. */
  readonly renewals: number;
}

/** One node of the fleet, for whoever shows it. */
export interface FleetNodeStatus extends KubeletStatus {
  readonly labels: Labels;
  /** It sees nothing of the API server. */
  readonly cutOff: boolean;
  /** The ids of the faults that it has. */
  readonly faults: readonly string[];
}

/**
 * Many hollow nodes in one process. They share one watch of pods and one of nodes, start one after another, and
 * heartbeat each at its own phase, which follows from its name. Faults are asked for by node name; a name that is not
 * in the fleet throws a RangeError, and then nothing is done to any of them.
 */
export class HollowFleet {
  /** What is the matter with its nodes: put faults up here, and take them back. */
  readonly faults: FaultBoard;
  readonly #options: HollowFleetOptions;
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  readonly #router: PodRouter;
  readonly #registrations = new Turnstile(registrationsAtOnceMax);
  readonly #members: ReadonlyMap<string, FaultyNode>;
  readonly #allRegistered = Promise.withResolvers<void>();
  #registered = 0;
  #renewals = 0;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: HollowFleetOptions) {
    this.#options = options;
    const means = { ...options, meter: options.meter ?? silentMeter };
    this.#pods = podInformer(means);
    this.#nodes = nodeInformer(means);
    this.#router = new PodRouter(this.#pods);
    const profile = completeProfile(options.profile);
    this.#members = new Map(options.nodes.map((node, index) => [node.name, this.#assemble(node, index, profile)]));
    if (this.#members.size < options.nodes.length) throw new RangeError('two nodes of the fleet have the same name');
    if (this.#members.size === 0) this.#allRegistered.resolve();
    const { clock, seed = 1, tell } = options;
    this.faults = new FaultBoard({ nodes: [...this.#members.values()], clock, seed, tell });
  }

  /** Runs all nodes until the signal aborts; resolves when nothing of them runs any more. The API objects stay. */
  async run(signal: AbortSignal): Promise<void> {
    const disconnect = this.#router.connect();
    const kubelets = [...this.#members.values()].map(({ kubelet }) => (signal: AbortSignal) => {
      return this.#start(kubelet, signal);
    });
    try {
      await runTogether(signal, [
        (signal) => this.#pods.run(signal),
        (signal) => this.#nodes.run(signal),
        (signal) => this.faults.run(signal),
        ...kubelets,
      ]);
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

  /**
   * Ends these nodes' kubelets where they stand, and starts them again; with a reboot their machines go down as well. One
   * that is not up now stays as it is.
   */
  crash(names: Iterable<string>, outage: Outage = {}): void {
    for (const { kubelet } of this.#find(names)) kubelet.crash(outage);
  }

  /** One node's kubelet, to look into it or to break it; undefined for a name that is not in the fleet. */
  kubelet(name: string): HollowKubelet | undefined {
    return this.#members.get(name)?.kubelet;
  }

  isCutOff(name: string): boolean {
    return this.#find([name]).some(({ link }) => link.isCut);
  }

  /** One node's own view of itself; undefined for a name that is not in the fleet. */
  node(name: string): KubeletStatus | undefined {
    return this.#members.get(name)?.kubelet.status();
  }

  /** Every node as it is now, in the order of the options. */
  *nodes(): Generator<FleetNodeStatus> {
    for (const { name, labels, kubelet, link } of this.#members.values()) {
      yield { ...kubelet.status(), labels, cutOff: link.isCut, faults: this.faults.on(name) };
    }
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
      renewals: this.#renewals,
    };
  }

  #start(kubelet: HollowKubelet, signal: AbortSignal): Promise<void> {
    const waitMs = derivePhase(kubelet.name) * this.#rampMs();
    // Chained, not awaited: thousands of them run for as long as the process.
    return this.#options.clock.sleep(waitMs, signal).then(() => kubelet.run(signal));
  }

  #rampMs(): number {
    const { nodes, profile, rampMs } = this.#options;
    if (rampMs !== undefined) return rampMs;
    // Who wants them to beat as one wants them to begin as one.
    return profile?.leasePhase === 'aligned' ? 0 : (nodes.length * 1_000) / startsPerSecond;
  }

  #assemble({ name, labels }: FleetNode, index: number, profile: KubeletProfile): FaultyNode {
    const { api, heartbeatApi, random, logger, setters = [], sources, recorder, machine } = this.#options;
    const clock = new SkewedClock(this.#options.clock);
    const link = new Link({
      api,
      ...(heartbeatApi === undefined ? {} : { heartbeatApi }),
      note: this.#noteRequest,
      clock,
      requestTimeoutMs: heartbeatTimeoutMs(profile),
    });
    const kubelet = new HollowKubelet({
      name,
      labels,
      machine: { ...deriveMachine(index), ...machine },
      profile,
      api: link,
      sources: () => [this.#apiSource(name, link), ...(sources?.(name) ?? [])],
      nodes: { get: (key) => (link.isCut ? 'frozen' : this.#nodes.store.get(key)) },
      registrations: this.#registrations,
      onRegistered: () => this.#noteRegistered(),
      onRepeatedFailure: () => this.#noteRepeatedFailure(name),
      setters,
      ...(recorder === undefined ? {} : { recorder: recorderBy(clock, recorder(name)) }),
      clock,
      random,
      logger,
    });
    return { name, labels, kubelet, link, clock, deleteNode: () => this.#deleteNode(name) };
  }

  /** One for all nodes. */
  readonly #noteRequest = ({ verb, resource }: NetworkRequest, succeeded: boolean): void => {
    const { meter } = this.#options;
    meter?.add(nodeRequestsTotal, 1, { verb, resource, result: succeeded ? 'success' : 'failure' });
    if (!succeeded || resource !== 'leases') return;
    if (verb === 'replace' || verb === 'create') this.#renewals += 1;
  };

  /** As somebody else would. */
  async #deleteNode(name: string): Promise<void> {
    const { api, logger } = this.#options;
    const { signal } = new AbortController();
    try {
      const { metadata } = await api.get('nodes', { name }, { signal });
      await api.delete('nodes', { name }, { uid: metadata.uid ?? '', signal });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      logger.warn({ node: name, reason: error.reason }, 'a node could not be deleted as a fault wanted it');
    }
  }

  #noteRepeatedFailure(name: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#failedAtMs < repeatedFailureMsMin) return;
    this.#failedAtMs = nowMs;
    this.#options.onRepeatedFailure?.(name);
  }

  #apiSource(nodeName: string, cable: Link): ApiSource {
    const { clock } = this.#options;
    return new ApiSource({
      nodeName,
      router: this.#router,
      cable,
      clock,
      nodesSynced: () => this.#nodes.hasSynced(),
    });
  }

  #noteRegistered(): void {
    this.#registered += 1;
    if (this.#registered === this.#members.size) this.#allRegistered.resolve();
  }

  #find(names: Iterable<string>): readonly FaultyNode[] {
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
  onRead() {},
};

/** A machine tells the time that it has. */
function recorderBy(clock: Clock, recorder: EventRecorder): EventRecorder {
  return { record: (draft) => recorder.record({ ...draft, toldAtMs: clock.nowMs() }) };
}
