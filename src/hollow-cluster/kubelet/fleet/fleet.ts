import { ApiError } from '../../../machinery/api/api-error.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import type { Labels } from '../../../machinery/api/topology.ts';
import type { Informer } from '../../../machinery/informer/informer.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import type { KubeReader } from '../../../machinery/ports/kube-reader.ts';
import type { KubeWriter } from '../../../machinery/ports/kube-writer.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { Meter } from '../../../machinery/ports/meter.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import { buildMachine } from './build-machine.ts';
import { planPhase } from '../loops/plan-phase.ts';
import { FaultInjector } from '../faults/fault-injector.ts';
import type { GroundTruth } from '../faults/ground-truth.ts';
import type { FaultyNode } from '../faults/node-faults.ts';
import { nodeInformer, podInformer } from './fleet-informers.ts';
import { HollowKubelet, type KubeletStatus, type CrashOptions } from '../hollow-kubelet.ts';
import { FaultInjectingClient } from '../network/fault-injecting-client.ts';
import { nodeRequestsTotal } from './metrics.ts';
import type { NetworkRequest } from '../network/network-rule.ts';
import { apiSource } from '../pod-config/api-source.ts';
import type { PodSource } from '../pod-config/pod-update.ts';
import { PodRouter } from '../pod-config/pod-router.ts';
import { completeProfile, heartbeatTimeoutMs, type KubeletProfile, type Machine } from '../profile.ts';
import { retryRefused } from '../loops/retry-refused.ts';
import { runTogether } from '../loops/loop-group.ts';
import { SkewedClock } from '../loops/skewed-clock.ts';
import { Semaphore } from '../loops/semaphore.ts';
import { untilSettledOrAborted } from '../../../machinery/supervision/abort.ts';
import type { FleetNode } from '../faults/select-nodes.ts';

/** Nodes start to register at this rate, regardless of their number. */
const startsPerSecond = 200;
const registrationsAtOnceMax = 32;
/** Minimum time between two reports of repeated heartbeat failures, for all nodes together. */
const repeatedFailureMsMin = 10_000;

export interface HollowFleetOptions {
  readonly nodes: readonly FleetNode[];
  /** The API server, shared by all; each node reaches it through its own fault-injecting client. */
  readonly api: KubeReader & KubeWriter;
  /** A separate client for heartbeats; `api` when absent. */
  readonly heartbeatApi?: KubeReader & KubeWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** For the two informers that the fleet shares and the requests of its nodes; nothing is recorded when absent. */
  readonly meter?: Meter;
  /** Overrides of the profile v1.37, or of v1.8 if that is its kind. */
  readonly profile?: Partial<KubeletProfile>;
  /** Overrides of the default machine, on every node. */
  readonly machine?: Partial<Pick<Machine, 'cpuCores' | 'memoryMiB' | 'ephemeralStorageMiB' | 'podsMax'>>;
  /** Nodes start spread over this time, each at an offset that its name determines; 200 per second when absent. */
  readonly startRampMs?: number;
  /** Determines the random choices of faults; 1 when absent. */
  readonly seed?: number;
  /** Called for every change that faults make to nodes. */
  readonly onGroundTruth?: (truth: GroundTruth) => void;
  /** Heartbeats of this node fail repeatedly: the connections may be dead. Called at most once in 10 s. */
  readonly onRepeatedFailure?: (node: string) => void;
  /** Additional pod sources of a node, by its name; called again each time its kubelet starts. */
  readonly sources?: (nodeName: string) => readonly PodSource[];
  /** Event recorder of a node's kubelet, by its name; no Events are written when absent. */
  readonly recorder?: (nodeName: string) => EventRecorder;
}

/** Numbers of nodes and pods of the fleet, by state. */
export interface FleetStatus {
  readonly nodes: number;
  readonly registered: number;
  /** Ready in the last status that was written; a node that is cut off stays in this count. */
  readonly ready: number;
  readonly cutOff: number;
  readonly unhealthy: number;
  readonly pods: number;
  /** Pod statuses that the API server has not confirmed yet. */
  readonly unwrittenPods: number;
  /** Lease renewals that the API server has confirmed since the start. */
  readonly renewals: number;
}

/** Status of one node of the fleet. */
export interface FleetNodeStatus extends KubeletStatus {
  readonly labels: Labels;
  /** The node has no connection to the API server. */
  readonly cutOff: boolean;
  /** The ids of the node's faults. */
  readonly faults: readonly string[];
}

/**
 * Many hollow nodes in one process. They share one pod watch and one node watch, start one after another, and heartbeat
 * each at its own phase, which depends on its name. Faults are injected by node name; a name that is not in the fleet
 * throws a RangeError, and then no node is changed.
 */
export class HollowFleet {
  /** Injects faults into the nodes and withdraws them. */
  readonly faults: FaultInjector;
  readonly #options: HollowFleetOptions;
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  readonly #router: PodRouter;
  readonly #registrations = new Semaphore(registrationsAtOnceMax);
  readonly #members: ReadonlyMap<string, FaultyNode>;
  readonly #allRegistered = Promise.withResolvers<void>();
  #registered = 0;
  #renewals = 0;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: HollowFleetOptions) {
    this.#options = options;
    const dependencies = { ...options, meter: options.meter ?? silentMeter };
    this.#pods = podInformer(dependencies);
    this.#nodes = nodeInformer(dependencies);
    this.#router = new PodRouter(this.#pods);
    const profile = completeProfile(options.profile);
    this.#members = new Map(options.nodes.map((node, index) => [node.name, this.#assemble(node, index, profile)]));
    if (this.#members.size < options.nodes.length) throw new RangeError('two nodes of the fleet have the same name');
    if (this.#members.size === 0) this.#allRegistered.resolve();
    const { clock, seed = 1, onGroundTruth } = options;
    this.faults = new FaultInjector({ nodes: [...this.#members.values()], clock, seed, onGroundTruth });
  }

  /** Runs all nodes until the signal aborts; resolves when all of them have stopped. The API objects stay. */
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

  /** The storage was restored from a backup: the informers that the fleet shares list again. */
  noticeRollback(): void {
    this.#pods.noticeRollback();
    this.#nodes.noticeRollback();
  }

  /** Resolves when every node is registered, or when the signal aborts. */
  whenRegistered(signal: AbortSignal): Promise<void> {
    return untilSettledOrAborted(this.#allRegistered.promise, signal);
  }

  /**
   * Disconnects these nodes: none of their requests reaches the API server, and their watches stall. They keep running.
   */
  cutOff(names: Iterable<string>): void {
    for (const { client } of this.#find(names)) client.cut();
  }

  /** Connects these nodes again. They catch up with the current state. */
  reconnect(names: Iterable<string>): void {
    for (const { client } of this.#find(names)) client.restore();
  }

  /**
   * Ends the kubelet processes of these nodes at once and starts new ones; with `reboot` their machines restart too. A
   * kubelet that is not running is not changed.
   */
  crash(names: Iterable<string>, options: CrashOptions = {}): void {
    for (const { kubelet } of this.#find(names)) kubelet.crash(options);
  }

  /** The kubelet of one node, to inspect it or to inject faults; undefined for a name that is not in the fleet. */
  kubelet(name: string): HollowKubelet | undefined {
    return this.#members.get(name)?.kubelet;
  }

  /** The kubelet's own status of one node; undefined for a name that is not in the fleet. */
  node(name: string): KubeletStatus | undefined {
    return this.#members.get(name)?.kubelet.status();
  }

  /** The Node object of one node as the API server last sent it; undefined if there is none. */
  object(name: string): Node | undefined {
    return this.#nodes.store.get(name);
  }

  /** Whether a machine answers at this address, its own or that of one of its pods. */
  answersAt(address: string): boolean {
    const isAt = ({ kubelet }: FaultyNode): boolean => {
      const { address: own, podSubnet } = kubelet.health.describe();
      return own === address || address.startsWith(`${podSubnet}.`);
    };
    return [...this.#members.values()].some((member) => isAt(member) && member.kubelet.answers && !member.client.isCut);
  }

  /** Every node as it is now, in the order of the options. */
  *nodes(): Generator<FleetNodeStatus> {
    for (const { name, labels, kubelet, client } of this.#members.values()) {
      yield { ...kubelet.status(), labels, cutOff: client.isCut, faults: this.faults.on(name) };
    }
  }

  status(): FleetStatus {
    const members = [...this.#members.values()];
    const statuses = members.map(({ kubelet }) => kubelet.status());
    return {
      nodes: members.length,
      registered: statuses.filter((status) => status.registered).length,
      ready: statuses.filter((status) => status.ready).length,
      cutOff: members.filter(({ client }) => client.isCut).length,
      unhealthy: statuses.filter((status) => status.broken).length,
      pods: statuses.reduce((sum, status) => sum + status.pods, 0),
      unwrittenPods: statuses.reduce((sum, status) => sum + status.unwrittenPods, 0),
      renewals: this.#renewals,
    };
  }

  #start(kubelet: HollowKubelet, signal: AbortSignal): Promise<void> {
    const waitMs = planPhase(kubelet.name) * this.#rampMs();
    // Chained, not awaited: thousands of these promises live as long as the process.
    return this.#options.clock.sleep(waitMs, signal).then(() => kubelet.run(signal));
  }

  #rampMs(): number {
    const { nodes, profile, startRampMs: rampMs } = this.#options;
    if (rampMs !== undefined) return rampMs;
    // With aligned heartbeats all nodes start at once.
    return profile?.leasePhase === 'aligned' ? 0 : (nodes.length * 1_000) / startsPerSecond;
  }

  #assemble({ name, labels }: FleetNode, index: number, profile: KubeletProfile): FaultyNode {
    const { api, heartbeatApi, random, logger, sources, recorder, machine } = this.#options;
    const clock = new SkewedClock(this.#options.clock);
    const client = new FaultInjectingClient({
      api,
      heartbeatApi,
      note: this.#noteRequest,
      clock,
      requestTimeoutMs: heartbeatTimeoutMs(profile),
    });
    const [router, isNodeKnown] = [this.#router, () => this.#nodes.store.get(name) !== undefined];
    const source = apiSource({ nodeName: name, router, connection: client, clock: this.#options.clock, isNodeKnown });
    const own = { ...buildMachine(index), ...machine };
    const kubelet = new HollowKubelet({
      name,
      labels,
      machine: own,
      profile,
      api: client,
      sources: () => [source, ...(sources?.(name) ?? [])],
      nodes: { get: (key) => (client.isCut ? 'frozen' : this.#nodes.store.get(key)) },
      registrations: this.#registrations,
      onRegistered: () => this.#noteRegistered(),
      onRepeatedFailure: () => this.#noteRepeatedFailure(name),
      recorder: recorder && recorderBy(clock, recorder(name)),
      clock,
      random,
      logger,
    });
    return { name, labels, kubelet, client, clock, deleteNode: () => this.#deleteNode(name) };
  }

  /** Shared by all nodes. */
  readonly #noteRequest = ({ verb, resource }: NetworkRequest, succeeded: boolean): void => {
    const { meter } = this.#options;
    meter?.add(nodeRequestsTotal, 1, { verb, resource, result: succeeded ? 'success' : 'failure' });
    if (!succeeded || resource !== 'leases') return;
    if (verb === 'replace' || verb === 'create') this.#renewals += 1;
  };

  /** Deletes the Node object as another API client would. */
  async #deleteNode(name: string): Promise<void> {
    const { api, clock, logger } = this.#options;
    const { signal } = new AbortController();
    const readAndDelete = async (): Promise<void> => {
      const { metadata } = await api.get('nodes', { name }, { signal });
      await api.delete('nodes', { name }, { uid: metadata.uid ?? '', signal });
    };
    try {
      await retryRefused(readAndDelete, clock, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      logger.warn({ node: name, reason: error.reason }, 'failed to delete node for a fault');
    }
  }

  #noteRepeatedFailure(name: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#failedAtMs < repeatedFailureMsMin) return;
    this.#failedAtMs = nowMs;
    this.#options.onRepeatedFailure?.(name);
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

/** Events carry the time of the node's own, possibly skewed, clock. */
function recorderBy(clock: Clock, recorder: EventRecorder): EventRecorder {
  return { record: (draft) => recorder.record({ ...draft, reportedAtMs: clock.nowMs() }) };
}
