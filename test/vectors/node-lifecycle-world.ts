// The whole controller on a manual clock. Its loops do not run: the vector calls each pass, and the caches follow the API
// server when the vector requests it.
import type { DaemonSetView } from '../../src/machinery/api/daemonset.ts';
import { transformLease, type LeaseView } from '../../src/machinery/api/lease.ts';
import { type NodeView, transformNode } from '../../src/machinery/api/node.ts';
import { podKey, type PodView, transformPod } from '../../src/machinery/api/pod.ts';
import { keyOf } from '../../src/machinery/api/object-key.ts';
import { zoneOf } from '../../src/machinery/api/topology.ts';
import type { Decision } from '../../src/controller/model/decisions.ts';
import { daemonSetsByNamespace, NodeLifecycle, podsByNode } from '../../src/controller/node-lifecycle.ts';
import {
  type ControllerOptions,
  defaultControllerOptions,
  defaultPodGcOptions,
} from '../../src/controller/model/options.ts';
import { DecisionLog } from '../../src/controller/decision-log/decision-log.ts';
import { MutationCache } from '../../src/machinery/informer/mutation-cache.ts';
import { ApiLiveLeases } from '../../src/manager/live-leases.ts';
import { FakeInformer } from '../support/fake-informer.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder } from '../support/fakes.ts';
import { ApiChecks } from './api-checks.ts';
import { byName, contains, equals, isMap, isSame, show } from './comparing.ts';
import { eventChecks } from './event-checks.ts';
import {
  type Flags,
  type Given,
  type GivenCondition,
  type GivenNode,
  type GivenTaint,
  type RememberedHealth,
  type Vector,
  faultOf,
} from './format.ts';
import { conditionOf, leaseOf, nodeOf, podOf, populationOf, taintOf } from './given-objects.ts';
import { metricChecks } from './metric-checks.ts';
import { NodeWorkers, writerOnto } from './node-workers.ts';
import { OpenLanes } from '../support/open-lanes.ts';
import { RecordingApi } from './recording-api.ts';
import { VectorClock } from './vector-clock.ts';
import { type Check, NotSupported, type Operation, type World } from './world.ts';
import { zoneKey, upstreamZoneState, upstreamZone } from './zone-names.ts';

/** A rate of this or more is unlimited: kube-controller-manager relies on the microseconds that pass between two items. */
const unlimitedRate = 10_000;
/** Time in which the answer of a live read is asked for. */
const liveReadMs = 100;
/** How long kube-controller-manager retries a failed status write within one monitor pass. */
const statusRetryMs = 100;
const nodesInOnePassMax = 10_000;
/** A frame at least this often keeps the watch fresh. */
const contactEveryMs = 500;

interface Informers {
  readonly nodes: FakeInformer<NodeView>;
  readonly leases: FakeInformer<LeaseView>;
  readonly pods: FakeInformer<PodView>;
  readonly daemonSets: FakeInformer<DaemonSetView>;
}

/** kube-controller-manager has no freshness check, and its results are those without one: decision 0011. */
const withoutStormGuard = { podMarkingRate: 1_000_000, controlPlanePathFailureHoldMs: 0 } as const;

/** Flags of kube-controller-manager as options of this controller. */
export function optionsFrom(flags: Flags = {}, mode?: string): ControllerOptions {
  const ms = (seconds: number | undefined, byDefault: number): number =>
    seconds === undefined ? byDefault : seconds * 1_000;
  const plain = defaultControllerOptions;
  return {
    ...plain,
    nodeMonitorPeriodMs: ms(flags.nodeMonitorPeriodS, plain.nodeMonitorPeriodMs),
    nodeMonitorGracePeriodMs: ms(flags.nodeMonitorGracePeriodS, plain.nodeMonitorGracePeriodMs),
    nodeStartupGracePeriodMs: ms(flags.nodeStartupGracePeriodS, plain.nodeStartupGracePeriodMs),
    nodeEvictionRate: flags.nodeEvictionRate ?? plain.nodeEvictionRate,
    secondaryNodeEvictionRate: flags.secondaryNodeEvictionRate ?? plain.secondaryNodeEvictionRate,
    largeClusterSizeThreshold: flags.largeClusterSizeThreshold ?? plain.largeClusterSizeThreshold,
    unhealthyZoneThreshold: flags.unhealthyZoneThreshold ?? plain.unhealthyZoneThreshold,
    taintBasedEvictions: !isEvictionMode(mode, flags),
    podEvictionTimeoutMs: ms(flags.podEvictionTimeoutS, plain.podEvictionTimeoutMs),
    ...withoutStormGuard,
    ...constantRates(flags),
  };
}

/** kube-controller-manager has had two switches for it; a vector with a mode of that time need not set either. */
export function isEvictionMode(mode: string | undefined, { enableTaintManager, taintBasedEvictions }: Flags): boolean {
  return mode?.startsWith('eviction-') === true || enableTaintManager === false || taintBasedEvictions === false;
}

/** A constant instead of a rate rule, expressed with options: every zone is large, and then gets the secondary rate. */
function constantRates(flags: Flags): Partial<ControllerOptions> {
  const { enterPartialDisruptionQPS: partial, enterFullDisruptionQPS: full, nodeEvictionRate } = flags;
  if (full !== undefined && full !== (nodeEvictionRate ?? defaultControllerOptions.nodeEvictionRate)) {
    throw new NotSupported('enterFullDisruptionQPS other than nodeEvictionRate: there is no such option');
  }
  return partial === undefined ? {} : { secondaryNodeEvictionRate: partial, largeClusterSizeThreshold: 0 };
}

export class NodeLifecycleWorld implements World {
  givens: readonly (keyof Given)[] = [
    't0',
    'flags',
    'nodes',
    'pods',
    'leases',
    'generate',
    'faults',
    'nodeHealth',
    'concurrentWrite',
    'taintKeys',
  ];
  operations: Readonly<Record<string, Operation>>;
  checks: Readonly<Record<string, Check>>;
  protected readonly time: VectorClock;
  protected readonly api: RecordingApi;
  protected readonly apiChecks: ApiChecks;
  protected readonly recorder = new RecordingRecorder();
  protected readonly meter = new RecordingMeter();
  protected readonly options: ControllerOptions;
  protected informers: Informers;
  protected lifecycle: NodeLifecycle;
  readonly #exactZones: boolean;
  readonly #workers: NodeWorkers;
  readonly #abort = new AbortController();
  #frozen = false;
  /** Nodes that got their NoExecute taint in the last monitor pass, without waiting. */
  #servedAtOnce: readonly { readonly name: string; readonly zone: string }[] = [];
  #lastFrameAtMs = 0;

  constructor({ given, then: expected, mode }: Pick<Vector, 'given' | 'then' | 'mode'>) {
    this.time = new VectorClock(given.t0);
    this.options = optionsFrom(given.flags, mode);
    this.api = new RecordingApi(this.time);
    this.apiChecks = new ApiChecks(this.api, this.time);
    this.#exactZones = expected['exactZoneSet'] === true;
    this.#populate(given);
    this.informers = this.#newInformers();
    this.lifecycle = this.#newLifecycle();
    this.#workers = this.#newWorkers();
    if (given.nodeHealth !== undefined && given.nodeHealth !== null) this.#remember(given.nodeHealth);
    this.sync();
    for (const fault of given.faults ?? []) this.api.fail(fault);
    if (given.concurrentWrite !== undefined) this.api.writeConcurrently(given.concurrentWrite);
    this.operations = this.#operations();
    this.checks = this.#checks();
  }

  stop(): Promise<void> {
    this.#abort.abort();
    return Promise.resolve();
  }

  // --- operations ---

  #operations(): Readonly<Record<string, Operation>> {
    return { ...this.#clusterOperations(), ...this.#passes(), ...this.#workers.operations() };
  }

  #clusterOperations(): Readonly<Record<string, Operation>> {
    return {
      advance: ({ seconds }) => this.advance(seconds as number),
      setNodeStatus: ({ nodes, syncCache }) => {
        this.#setStatus(nodes as readonly GivenNode[]);
        if (syncCache === true) this.sync();
      },
      setLabels: ({ nodes, labels }) => {
        for (const name of nodes as readonly string[])
          this.#setLabels(name, labels as Readonly<Record<string, string>>);
      },
      setLease: ({ name, renewAge }) => {
        this.api.put('leases', leaseOf({ name: name as string, renewAge: renewAge as number }, this.time.nowMs));
      },
      addNodes: ({ nodes }) => {
        for (const node of nodes as readonly GivenNode[]) this.#addNode(node);
      },
      deleteNode: ({ name }) => {
        this.api.remove('nodes', name as string);
      },
      addTaint: ({ node, taint }) => {
        this.#addTaint(node as string, taint as GivenTaint);
      },
      failNext: (step) => {
        this.api.fail(faultOf(step));
      },
      freezeCache: () => {
        this.#frozen = true;
      },
      syncCache: () => {
        this.sync();
      },
      restart: () => {
        this.#restart();
      },
    };
  }

  #passes(): Readonly<Record<string, Operation>> {
    return {
      monitor: () => this.#monitor(),
      noExecutePass: () => this.noExecutePass(),
      tryUpdateNodeHealth: () => this.#monitor(),
    };
  }

  async #monitor(): Promise<void> {
    if (!this.#frozen) this.sync();
    this.api.nodeWorkersHeld = true;
    const refusedBefore = this.#refused();
    const stopListening = this.lifecycle.stages.decisions.onDecision(({ decision }) => this.#noteServed(decision));
    await this.lifecycle.monitorPass();
    // kube-controller-manager's pass retries a rejected status write itself, for this long.
    if (this.#refused() > refusedBefore) {
      await this.runAhead(statusRetryMs);
      await this.lifecycle.monitorPass();
    }
    stopListening();
    this.api.nodeWorkersHeld = false;
  }

  #noteServed(decision: Decision): void {
    if (decision.kind !== 'taints-changed' || !['node-silent', 'node-not-ready'].includes(decision.why)) return;
    const { node: name } = decision;
    this.#servedAtOnce = [...this.#servedAtOnce, { name, zone: zoneOf(this.informers.nodes.get(name)?.labels ?? {}) }];
  }

  #refused(): number {
    return this.api.requests.filter(
      ({ refused, resource, subresource }) => refused !== undefined && resource === 'nodes' && subresource === 'status',
    ).length;
  }

  protected async noExecutePass(): Promise<void> {
    this.#servedAtOnce = [];
    this.api.nodeWorkersHeld = true;
    await this.serveQueues();
    for (let left = nodesInOnePassMax; left > 0 && this.#isUnlimited(); left -= 1) {
      const before = this.api.requests.length;
      await this.runAhead(1_000 / unlimitedRate);
      await this.serveQueues();
      if (this.api.requests.length === before) break;
    }
    this.api.nodeWorkersHeld = false;
  }

  /** Grants a slot to each entry that gets a token now. */
  protected async serveQueues(): Promise<void> {
    await this.lifecycle.noExecutePass();
    await this.drainPods();
  }

  /** In eviction mode a node is read live before its pods are deleted. */
  protected async drainPods(): Promise<void> {
    const { podEvictor } = this.lifecycle.stages;
    if (podEvictor === undefined) return;
    await podEvictor.drain();
    await this.runAhead(liveReadMs);
    await podEvictor.drain();
  }

  /** Whether an entry waits that no rate limit would delay. */
  #isUnlimited(): boolean {
    const { queues } = this.lifecycle.stages;
    return queues.zones().some((zone) => {
      const line = queues.get(zone);
      return line !== undefined && line.size > 0 && line.ratePerSecond >= unlimitedRate;
    });
  }

  protected advance(seconds: number): Promise<void> {
    return this.#whileReceiving(() => this.time.advance(seconds));
  }

  protected runAhead(ms: number): Promise<void> {
    return this.#whileReceiving(() => this.time.runAhead(ms));
  }

  async #whileReceiving(move: () => Promise<void>): Promise<void> {
    const fromMs = this.time.clock.monotonicMs();
    await move();
    for (let atMs = fromMs; atMs < this.time.clock.monotonicMs(); atMs += contactEveryMs) this.#receiveFrame(atMs);
    this.#receiveFrame();
  }

  /** The streams were open all the time: no vector tests freshness. */
  #receiveFrame(atMs = this.time.clock.monotonicMs()): void {
    this.#lastFrameAtMs = atMs;
    this.lifecycle.stages.freshness.nowMs();
  }

  // --- the cluster ---

  #populate(given: Given): void {
    const { nodes, pods } = populationOf(given);
    for (const node of nodes) this.#addNode(node);
    for (const pod of pods) this.api.put('pods', podOf(pod, this.time));
    for (const lease of given.leases ?? []) this.api.put('leases', leaseOf(lease, this.time.nowMs));
  }

  #addNode(given: GivenNode): void {
    this.api.put('nodes', nodeOf(given, this.time.nowMs));
    this.apiChecks.notePosted(given.name);
  }

  #setStatus(nodes: readonly GivenNode[]): void {
    for (const { name, conditions = [] } of nodes) {
      const node = this.#existing(name);
      const posted = conditions.map((condition: GivenCondition) => conditionOf(condition, this.time.nowMs));
      const kept = (node.status?.conditions ?? []).filter(({ type }) => !posted.some((one) => one.type === type));
      this.api.put('nodes', { ...node, status: { ...node.status, conditions: [...posted, ...kept] } });
      this.apiChecks.notePosted(name);
    }
  }

  #setLabels(name: string, labels: Readonly<Record<string, string>>): void {
    const node = this.#existing(name);
    this.api.put('nodes', { ...node, metadata: { ...node.metadata, labels } });
  }

  #addTaint(name: string, given: GivenTaint): void {
    const node = this.#existing(name);
    const taints = [...(node.spec?.taints ?? []), taintOf(given, this.time.nowMs)];
    this.api.put('nodes', { ...node, spec: { ...node.spec, taints } });
  }

  #existing(name: string): NonNullable<ReturnType<RecordingApi['node']>> {
    const node = this.api.node(name);
    if (node === undefined) throw new Error(`node ${name} not found`);
    return node;
  }

  // --- the controller ---

  #newInformers(): Informers {
    const leases = new FakeInformer<LeaseView>('leases');
    leases.lastFrameAtMs = () => this.#lastFrameAtMs;
    const nodeOf = (pod: PodView): readonly string[] => (pod.nodeName === '' ? [] : [pod.nodeName]);
    return {
      nodes: new FakeInformer<NodeView>('nodes'),
      leases,
      pods: new FakeInformer<PodView>('pods', { [podsByNode]: nodeOf }),
      daemonSets: new FakeInformer<DaemonSetView>('daemonsets', {
        [daemonSetsByNamespace]: ({ namespace }) => [namespace],
      }),
    };
  }

  #newLifecycle(): NodeLifecycle {
    return new NodeLifecycle({
      options: { current: () => this.options },
      controllers: { nodeLifecycle: true, taintEviction: true, podGc: true },
      podGc: { current: () => defaultPodGcOptions },
      informers: this.informers,
      api: this.api.client,
      liveLeases: new ApiLiveLeases(this.api.client, this.#abort.signal),
      lanes: new OpenLanes(),
      leadership: { holds: () => true },
      recorders: { nodes: this.recorder, evictions: this.recorder },
      clock: this.time.clock,
      logger: new RecordingLogger(),
      meter: this.meter,
    });
  }

  /** The same stage once more on the same caches, run when the vector requests it. */
  #newWorkers(): NodeWorkers {
    const nodes = new MutationCache<NodeView>((name) => this.informers.nodes.get(name));
    const decisions = new DecisionLog(new RecordingLogger(), new RecordingMeter(), () => this.time.clock.nowMs());
    const writer = writerOnto(this.api, nodes, decisions, this.#abort.signal);
    return new NodeWorkers({ time: this.time, nodes, writer, decisions });
  }

  #restart(): void {
    this.informers = this.#newInformers();
    this.lifecycle = this.#newLifecycle();
    this.#receiveFrame();
    this.sync();
  }

  protected sync(): void {
    this.#follow(
      this.informers.leases,
      this.api.leases().map((lease) => [keyOf(lease.metadata), transformLease(lease)]),
    );
    this.#follow(
      this.informers.nodes,
      this.api.nodes().map((node) => [node.metadata.name, transformNode(node)]),
    );
    this.#follow(
      this.informers.pods,
      this.api.pods().map((pod) => [podKey(transformPod(pod)), transformPod(pod)]),
    );
  }

  #follow<T extends { readonly resourceVersion: string }>(
    informer: FakeInformer<T>,
    objects: readonly (readonly [string, T])[],
  ): void {
    const keys = new Set(objects.map(([key]) => key));
    for (const key of informer.keys()) if (!keys.has(key)) informer.delete(key);
    for (const [key, object] of objects) {
      if (informer.get(key)?.resourceVersion !== object.resourceVersion) informer.set(key, object);
    }
  }

  /** Lets the controller build the records of the vector, before its caches have any content. */
  #remember(memory: Readonly<Record<string, RememberedHealth>>): void {
    for (const [name, remembered] of Object.entries(memory)) {
      const node = transformNode(this.#existing(name));
      if (typeof remembered === 'string') throw new NotSupported(`nodeHealth ${name}: ${remembered} here`);
      const { probeAge = 0, readyTransitionAge = probeAge, statusFromNode = false } = remembered;
      if (!statusFromNode) throw new NotSupported('nodeHealth with a status that is not the node’s');
      if (readyTransitionAge < probeAge) throw new NotSupported('a Ready transition after the last probe');
      const before = node.conditions.map((condition) => ({ ...condition, lastHeartbeatTime: 'before' }));
      if (readyTransitionAge > probeAge) this.#observe({ ...node, conditions: before }, readyTransitionAge);
      this.#observe(node, probeAge);
    }
  }

  #observe(node: NodeView, ageS: number): void {
    const monotonicMs = this.time.monotonicMsAtStart - ageS * 1_000;
    this.lifecycle.stages.health.observe(node, undefined, { monotonicMs, wallMs: this.time.t0Ms - ageS * 1_000 });
  }

  // --- expectations ---

  #checks(): Readonly<Record<string, Check>> {
    return {
      ...this.apiChecks.all(),
      ...eventChecks(() => this.recorder.drafts),
      ...metricChecks(this.meter),
      ...this.#zoneChecks(),
      ...this.#healthChecks(),
      ...this.#workers.checks(),
      noCrash: equals(() => true),
      panic: equals(() => false),
    };
  }

  #zoneChecks(): Readonly<Record<string, Check>> {
    return {
      zoneStates: (expected: unknown) => this.#zoneStates(expected as Readonly<Record<string, string>>),
      exactZoneSet: () => undefined, // checked with each zoneStates
      zoneLimiterQPS: byName((zone) => {
        const rate = this.lifecycle.stages.queues.get(zoneKey(zone))?.ratePerSecond;
        return rate === 0 ? 'never' : (rate ?? null);
      }),
      queue: byName((zone) => this.queueOf(zone), isQueue),
      queueOrder: (expected: unknown) => this.#queueOrder(expected),
    };
  }

  /** A node that found a token at hand waits for no time: until the next pass over the queue it counts as queued. */
  protected queueOf(zone: string): readonly string[] {
    const waiting = this.lifecycle.stages.queues.get(zoneKey(zone))?.keysInOrder() ?? [];
    return [...waiting, ...this.#servedAtOnce.flatMap((node) => (node.zone === zoneKey(zone) ? node.name : []))];
  }

  #zoneStates(expected: Readonly<Record<string, string>>): string | undefined {
    const { zones } = this.lifecycle.stages;
    const found = Object.fromEntries(
      zones.zones().map((zone) => [upstreamZone(zone), upstreamZoneState(zones.condition(zone))]),
    );
    const same = this.#exactZones ? isSame(found, expected) : contains(found, expected);
    return same ? undefined : show(found);
  }

  #queueOrder(expected: unknown): string | undefined {
    if (isMap(expected)) return byName((zone) => this.queueOf(zone))(expected as never);
    const all = this.lifecycle.stages.queues
      .zones()
      .flatMap((zone) => this.lifecycle.stages.queues.get(zone)?.keysInOrder() ?? []);
    return isSame(all, expected) ? undefined : show(all);
  }

  #healthChecks(): Readonly<Record<string, Check>> {
    return {
      nodeHealth: byName((name) => this.#recordOf(name), contains),
      returnedReady: equals(() => this.#onlyNode().ready ?? null),
      savedReadyEqualsReturned: equals(() => this.#savedEqualsReturned()),
    };
  }

  #recordOf(name: string): object | null {
    const record = this.lifecycle.stages.health.get(name);
    if (record === undefined) return null;
    const { heartbeatAtMs, readyChangedAtMs } = record;
    return { probeAt: this.time.secondsOf(heartbeatAtMs), readyTransitionAt: this.time.secondsOf(readyChangedAtMs) };
  }

  #onlyNode(): { readonly name: string; readonly ready: string | undefined; readonly heartbeat: string | undefined } {
    const [node, ...others] = this.api.nodes();
    if (node === undefined || others.length > 0) throw new Error('exactly one node is expected');
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
    return { name: node.metadata.name, ready: ready?.status, heartbeat: ready?.lastHeartbeatTime };
  }

  /** The record of Ready equals the condition on the server. */
  #savedEqualsReturned(): boolean {
    const { name, ready, heartbeat } = this.#onlyNode();
    const record = this.lifecycle.stages.health.get(name);
    return record?.hasReady === (ready !== undefined) && record.readyHeartbeat === heartbeat;
  }
}

/** The entries of a queue: all of them in order, or some that must and must not be queued. */
export function isQueue(found: unknown, expected: unknown): boolean {
  const waiting = found as readonly string[];
  if (Array.isArray(expected)) return isSame(waiting, expected);
  const {
    contains: inside = [],
    notContains: outside = [],
    ...strange
  } = expected as {
    readonly contains?: readonly string[];
    readonly notContains?: readonly string[];
  };
  if (Object.keys(strange).length > 0) throw new Error(`queue: unknown words ${Object.keys(strange).join(', ')}`);
  return inside.every((name) => waiting.includes(name)) && !outside.some((name) => waiting.includes(name));
}
