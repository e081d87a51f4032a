// A small cluster on a manual clock: real controller, real stages, an API that keeps versions and merges as the real one
// does, and caches that follow it at once or, when frozen, not at all.
import { ApiError, type ApiReason } from '../../src/machinery/api/api-error.ts';
import type { Condition } from '../../src/machinery/api/conditions.ts';
import type { DaemonSetView } from '../../src/machinery/api/daemonset.ts';
import { type EvictionView, targetOf } from '../../src/machinery/api/eviction.ts';
import { type LeaseView, transformLease } from '../../src/machinery/api/lease.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { type Node, type NodeView, pauseAnnotation, transformNode } from '../../src/machinery/api/node.ts';
import { type Pod, type PodView, transformPod } from '../../src/machinery/api/pod.ts';
import type { Taint } from '../../src/machinery/api/taints.ts';
import { formatMicroTime, formatTime } from '../../src/machinery/api/timestamps.ts';
import type { Toleration } from '../../src/machinery/api/tolerations.ts';
import { selectControllers } from '../../src/cli/controller/rules.ts';
import type { Decision } from '../../src/controller/model/decisions.ts';
import type { NotedDecision } from '../../src/controller/decision-log/decision-log.ts';
import type { Probing } from '../../src/controller/lifecycle-options.ts';
import { evictionsByTarget } from '../../src/controller/model/indexes.ts';
import { daemonSetsByNamespace, NodeLifecycle, podsByNode } from '../../src/controller/node-lifecycle.ts';
import {
  type ControllerOptions,
  type ControllerSelection,
  defaultControllerOptions,
  defaultPodGcOptions,
  type PodGcOptions,
} from '../../src/controller/model/options.ts';
import type { CanaryLease, LeaseRead } from '../../src/machinery/ports/leases.ts';
import type { WriteLane } from '../../src/machinery/ports/write-lanes.ts';
import { FakeInformer } from './fake-informer.ts';
import { ManualClock, settled } from './manual-clock.ts';
import { OpenLanes } from './open-lanes.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder } from './fakes.ts';
import { liveLeases } from './live-leases.ts';
import { mergeConditions } from './merge-conditions.ts';

export interface Write {
  readonly atSeconds: number;
  /** `evict`: by the Eviction API. */
  readonly verb: 'patch' | 'delete' | 'evict';
  readonly resource: string;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly body: unknown;
  readonly uid: string | undefined;
  readonly resourceVersion?: string | undefined;
}

interface Failure {
  readonly verb: 'patch' | 'delete' | 'evict' | 'get';
  readonly resource: string;
  readonly reason: ApiReason;
  /** The write is carried out all the same. */
  readonly butDone?: boolean;
  left: number;
}

interface NodeOptions {
  readonly zone?: string;
  readonly ready?: string;
  readonly taints?: readonly Taint[];
}

type StoredNode = Node & { metadata: { name: string; uid: string; resourceVersion: string } };
type StoredPod = Pod & { metadata: { namespace: string; name: string; uid: string; resourceVersion: string } };

export class ControllerWorld {
  readonly clock = new ManualClock();
  readonly logger = new RecordingLogger();
  readonly meter = new RecordingMeter();
  readonly nodeEvents = new RecordingRecorder();
  readonly evictionEvents = new RecordingRecorder();
  readonly nodes = new FakeInformer<NodeView>('nodes');
  readonly leases = new FakeInformer<LeaseView>('leases');
  readonly pods = new FakeInformer<PodView>('pods', {
    [podsByNode]: (pod) => (pod.nodeName === '' ? [] : [pod.nodeName]),
  });
  readonly daemonSets = new FakeInformer<DaemonSetView>('daemonsets', {
    [daemonSetsByNamespace]: ({ namespace }) => [namespace],
  });
  /** Evictions of lifecycle.k8s.io. */
  readonly evictions = new FakeInformer<EvictionView>('evictions.lifecycle.k8s.io', {
    [evictionsByTarget]: (eviction) => [targetOf(eviction)],
  });
  /** Whether pods wait for their responders; from the next restart on. */
  waitsForResponders = false;
  /** Namespaces whose pods ask to be kept. */
  readonly autonomousNamespaces = new Set<string>();
  readonly lanes: OpenLanes;
  readonly writes: Write[] = [];
  readonly decisions: NotedDecision[] = [];
  leading = true;
  /** Does the API server answer reads? */
  answering = true;
  /** Whether the API server answers a probe; other reads do not depend on it. */
  probeAnswers: () => boolean = () => true;
  /** What the answers to reads of leases wait for. */
  answersAfter: Promise<unknown> = Promise.resolve();
  /** How long each read of leases takes after that. */
  answersAfterMs = 0;
  /** Whether the API server permits reading single leases. */
  permitted = true;
  /** Leases whose single reads fail; a list, which only many suspects call for, answers them. */
  readonly unreadableLeases = new Set<string>();
  frozen = false;
  /** Runs before a write is carried out or refused: it may wait, or throw an ApiError. */
  beforeWrite: (write: Omit<Write, 'atSeconds'>) => Promise<void> = () => Promise.resolve();
  /** Runs before a live read of a node or pod is answered: it may wait. */
  beforeRead: (resource: string, name: string) => Promise<void> = () => Promise.resolve();
  /** Runs after a write was carried out and before its answer is there: it may wait. */
  afterWrite: ((write: Omit<Write, 'atSeconds'>) => Promise<void>) | undefined;
  /** The cache of nodes alone does not follow the API. */
  nodesFrozen = false;
  /** The cache of pods alone does not follow the API. */
  podsFrozen = false;
  /** A webhook changes each patch of these so that it changes nothing, and the API server answers with the object as it is. */
  readonly dropsPatchesOf = new Set<string>();
  /** By how much the clock of a kubelet differs, in milliseconds. */
  readonly kubeletClocksMs = new Map<string, number>();
  /** From the next restart on. */
  canaryLease: CanaryLease | undefined;
  /** From the next restart on. */
  probing: Probing | undefined;
  lifecycle: NodeLifecycle;
  options: ControllerOptions;
  readonly controllers: ControllerSelection;
  readonly podGc: PodGcOptions;
  readonly #apiNodes = new Map<string, StoredNode>();
  readonly #apiPods = new Map<string, StoredPod>();
  readonly #apiLeases = new Map<string, LeaseView>();
  readonly #failures: Failure[] = [];
  readonly #renewing = new Set<string>();
  /** In seconds, of leases that are not the default. */
  readonly #leaseDurations = new Map<string, number>();
  readonly startedAtMs: number;
  #version = 100;
  #nodesReached = 100;
  #uid = 0;
  #stop = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(
    options: Partial<ControllerOptions> = {},
    controllers: Partial<ControllerSelection> = {},
    podGc: PodGcOptions = defaultPodGcOptions,
    lanes: (clock: ManualClock) => OpenLanes = () => new OpenLanes(),
  ) {
    this.lanes = lanes(this.clock);
    this.controllers = { ...selectControllers('*'), ...controllers };
    this.options = { ...defaultControllerOptions, ...options };
    this.podGc = podGc;
    this.startedAtMs = this.clock.monotonicMs();
    this.leases.lastFrameAtMs = () => this.clock.monotonicMs();
    this.nodes.streamVersion = () => String(this.#nodesReached);
    this.lifecycle = this.#newLifecycle();
  }

  #newLifecycle(): NodeLifecycle {
    const lifecycle = new NodeLifecycle({
      options: { current: () => this.options },
      controllers: this.controllers,
      podGc: { current: () => this.podGc },
      informers: { nodes: this.nodes, leases: this.leases, pods: this.pods, daemonSets: this.daemonSets },
      evictions: this.waitsForResponders ? this.evictions : undefined,
      isAutonomous: (namespace) => this.autonomousNamespaces.has(namespace),
      api: {
        get: (resource, { name }) => this.#get(resource, name),
        patch: (resource, { namespace, name }, patch, { subresource }) =>
          this.#write({ verb: 'patch', resource, name, subresource, body: patch.body, uid: undefined }, namespace),
        delete: async (resource, { namespace, name }, { uid, resourceVersion }) => {
          const write = { verb: 'delete', resource, name, subresource: undefined, uid, resourceVersion } as const;
          await this.#write({ ...write, body: undefined }, namespace);
        },
        evict: async ({ namespace, name }, { uid, resourceVersion, signal, stillWanted }) => {
          if (stillWanted?.() === false) throw new ApiError({ reason: 'aborted', message: 'not wanted' });
          const write = {
            verb: 'evict',
            resource: 'pods',
            name,
            subresource: undefined,
            uid,
            resourceVersion,
          } as const;
          await unlessAborted(this.#write({ ...write, body: undefined }, namespace), signal);
        },
      },
      liveLeases: {
        ...liveLeases(() => this.#readLeases()),
        readOne: (node) => this.#readLease(node),
        probe: () => (this.answering && this.probeAnswers() ? Promise.resolve('') : Promise.reject(noAnswer())),
      },
      canaryLease: this.canaryLease,
      probing: this.probing,
      lanes: this.lanes,
      leadership: { holds: () => this.leading },
      recorders: { nodes: this.nodeEvents, evictions: this.evictionEvents },
      clock: this.clock,
      logger: this.logger,
      meter: this.meter,
    });
    lifecycle.stages.decisions.onDecision((noted) => this.decisions.push(noted));
    return lifecycle;
  }

  // --- the cluster ---

  addNode(name: string, options: NodeOptions = {}): void {
    const at = formatTime(this.clock.nowMs());
    const labels =
      options.zone === undefined
        ? {}
        : { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': options.zone };
    this.#storeNode({
      metadata: { name, uid: `uid-${name}-${this.#uid++}`, creationTimestamp: at, labels, resourceVersion: '' },
      spec: { taints: options.taints ?? [] },
      status: {
        conditions: [aCondition('Ready', options.ready ?? 'True', at), aCondition('MemoryPressure', 'False', at)],
        nodeInfo: { bootID: `boot-${name}` },
        addresses: [{ type: 'InternalIP', address: name }],
      },
    });
  }

  /** Nodes that renew their leases. */
  addNodes(names: readonly string[], options: NodeOptions | ((place: number) => NodeOptions) = {}): void {
    for (const [place, name] of names.entries())
      this.addNode(name, typeof options === 'function' ? options(place) : options);
    this.renewing(...names);
  }

  addPod(
    name: string,
    nodeName: string,
    tolerations: readonly Toleration[] = [],
    extra: Partial<Pod['metadata']> = {},
  ): void {
    const at = formatTime(this.clock.nowMs());
    this.#storePod({
      metadata: {
        namespace: 'default',
        name,
        uid: `uid-${name}-${this.#uid++}`,
        resourceVersion: '',
        creationTimestamp: at,
        ...extra,
      },
      spec: { nodeName, tolerations },
      status: { phase: 'Running', conditions: [aCondition('Ready', 'True', at)] },
    });
  }

  /** A node as the API server serves it, malformed or not: the cache stores its view. It renews nothing by itself. */
  putNode(raw: Node): void {
    this.#storeNode(raw);
  }

  putPod(raw: Pod): void {
    this.#storePod(raw);
  }

  removePod(name: string): void {
    const { namespace = 'default' } = this.#apiPods.get(name)?.metadata ?? {};
    this.#apiPods.delete(name);
    this.pods.delete(`${namespace}/${name}`);
  }

  removeNode(name: string): void {
    this.#apiNodes.delete(name);
    this.#renewing.delete(name);
    this.nodes.delete(name);
  }

  changePod(name: string, change: (pod: StoredPod) => Pod): void {
    const pod = this.#apiPods.get(name);
    if (pod !== undefined) this.#storePod(change(pod));
  }

  /** The kubelet of this node posts a Ready condition. */
  post(name: string, ready: string): void {
    const node = this.#apiNodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    const at = formatTime(this.clock.nowMs());
    const others = (node.status?.conditions ?? []).filter((condition) => condition.type !== 'Ready');
    this.#storeNode({ ...node, status: { ...node.status, conditions: [aCondition('Ready', ready, at), ...others] } });
  }

  /** The machine is started again: its next status has another boot ID, or none. */
  reboot(name: string, bootID: string): void {
    const node = this.#apiNodes.get(name);
    if (node !== undefined) this.#storeNode({ ...node, status: { ...node.status, nodeInfo: { bootID } } });
  }

  /** From now on these nodes renew their leases every 10 s of advancing time. */
  renewing(...names: readonly string[]): void {
    for (const name of names) this.#renewing.add(name);
    this.#renew();
  }

  goSilent(...names: readonly string[]): void {
    for (const name of names) this.#renewing.delete(name);
  }

  /** These nodes stop renewing now, and this time passes. */
  async silentFor(seconds: number, ...names: readonly string[]): Promise<void> {
    this.goSilent(...names);
    await this.advance(seconds);
  }

  /** They renew their leases again, and their kubelets post Ready. */
  recover(...names: readonly string[]): void {
    for (const name of names) this.post(name, 'True');
    this.renewing(...names);
  }

  /** All leases are deleted, as with their namespace, and no node can renew its own. */
  deleteLeases(): void {
    this.#renewing.clear();
    for (const name of this.#apiLeases.keys()) this.leases.delete(`kube-node-lease/${name}`);
    this.#apiLeases.clear();
  }

  /** From now on the stream of leases delivers no frame. */
  loseFrames(): void {
    const lastFrameAtMs = this.clock.monotonicMs();
    this.leases.lastFrameAtMs = () => lastFrameAtMs;
  }

  /** From now on the stream of leases delivers no frame and the API server answers no read. */
  loseContact(): void {
    this.loseFrames();
    this.answering = false;
  }

  restoreContact(): void {
    this.leases.lastFrameAtMs = () => this.clock.monotonicMs();
    this.answering = true;
  }

  /** From now on writes of this lane wait for a slot, until the returned function is called. */
  holdLane(lane: WriteLane): () => void {
    let free = (): void => undefined;
    this.lanes.gates[lane] = new Promise<void>((resolve) => {
      free = resolve;
    });
    return () => {
      delete this.lanes.gates[lane];
      free();
    };
  }

  /** The kubelets of these nodes are configured to renew their leases so often, which their leases show: four times in their duration. */
  renewEvery(seconds: number, ...names: readonly string[]): void {
    for (const name of names) this.#leaseDurations.set(name, 4 * seconds);
  }

  /** One renewal now, and none after it. */
  renewOnce(...names: readonly string[]): void {
    for (const name of names) this.#renewLease(name);
  }

  setTaints(name: string, taints: readonly Taint[]): void {
    const node = this.#apiNodes.get(name);
    if (node !== undefined) this.#storeNode({ ...node, spec: { ...node.spec, taints } });
  }

  setLabels(name: string, labels: Readonly<Record<string, string>>): void {
    const node = this.#apiNodes.get(name);
    if (node !== undefined) this.#storeNode({ ...node, metadata: { ...node.metadata, labels } });
  }

  /** Adds a label, or replaces its value. */
  addLabel(name: string, key: string, value: string): void {
    this.setLabels(name, { ...this.#apiNodes.get(name)?.metadata.labels, [key]: value });
  }

  /**
   * A condition of the node, besides those of its kubelet; undefined status: removes it. `at`: its lastTransitionTime;
   * null: none.
   */
  setCondition(name: string, type: string, status: string | undefined, at: string | null = this.#timestamp()): void {
    const node = this.node(name);
    const others = (node.status?.conditions ?? []).filter((condition) => condition.type !== type);
    const condition = { type, status: status ?? '', ...(at === null ? {} : { lastTransitionTime: at }) };
    const conditions = status === undefined ? others : [...others, condition];
    this.#storeNode({ ...node, status: { ...node.status, conditions } });
  }

  #timestamp(): string {
    return formatTime(this.clock.nowMs());
  }

  /** Sets the pause annotation; undefined: removes it. */
  annotatePause(name: string, value: string | undefined): void {
    this.annotate(name, pauseAnnotation, value);
  }

  /** Sets an annotation of a node; undefined: removes it. */
  annotate(name: string, key: string, value: string | undefined): void {
    const node = this.node(name);
    const annotations = mergeTexts(node.metadata.annotations, { [key]: value ?? null });
    this.#storeNode({ ...node, metadata: { ...node.metadata, annotations } });
  }

  failNext(verb: Failure['verb'], resource: string, reason: ApiReason, left = 1, butDone = false): void {
    this.#failures.push({ verb, resource, reason, left, butDone });
  }

  /** The caches follow what the API has, once. */
  syncCaches(): void {
    this.#nodesReached = this.#version;
    for (const node of this.#apiNodes.values()) this.nodes.set(node.metadata.name, transformNode(node));
    for (const pod of this.#apiPods.values()) this.#cachePod(pod);
    for (const lease of this.#apiLeases.values()) this.leases.set(`kube-node-lease/${lease.name}`, lease);
  }

  // --- the controller ---

  /** Returns the world, for `await using world = aZonedWorld(...).start()`. */
  start(): this {
    this.#stop = new AbortController();
    this.#running = this.lifecycle.lead(this.#stop.signal);
    return this;
  }

  /** Starts the controller and lets this time pass. */
  async running(seconds: number): Promise<this> {
    this.start();
    await this.advance(seconds);
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.clock.advance(0);
    await this.#running;
  }

  /** Everything in the controller's memory is lost; the API stays. */
  async restart(): Promise<void> {
    await this.stop();
    this.lifecycle = this.#newLifecycle();
    this.start();
  }

  /** As {@link restart}; the cache of leases of the new process fills with one after the other, so far apart. */
  async restartFilling(everyMs: number): Promise<void> {
    await this.stop();
    const leases = [...this.leases.values()];
    const keyOf = (name: string): string => `kube-node-lease/${name}`;
    for (const { name } of leases) this.leases.removeUnnoticed(keyOf(name));
    this.lifecycle = this.#newLifecycle();
    for (const lease of leases) {
      this.leases.set(keyOf(lease.name), lease);
      await this.clock.advance(everyMs);
    }
    this.start();
  }

  /** As a changed config file does it to a running controller. */
  changeOptions(options: Partial<ControllerOptions>): void {
    const changes = Object.entries(options).map(([setting, to]) => ({
      setting,
      from: 'before',
      to: JSON.stringify(to) ?? 'not set',
    }));
    this.options = { ...this.options, ...options };
    this.lifecycle.optionsChanged(changes);
  }

  async advance(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 10) {
      await this.clock.advance(Math.min(left, 10) * 1_000);
      this.#renew();
      await settled();
    }
  }

  // --- looking ---

  node(name: string): Node {
    const node = this.#apiNodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  pod(name: string): Pod | undefined {
    return this.#apiPods.get(name);
  }

  taints(name: string): readonly string[] {
    return (this.node(name).spec?.taints ?? [])
      .map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`)
      .sort();
  }

  ready(name: string): string | undefined {
    return this.node(name).status?.conditions?.find((condition) => condition.type === 'Ready')?.status;
  }

  evicted(): readonly string[] {
    return this.writes.filter((write) => write.verb === 'delete').map((write) => write.name);
  }

  /** Seconds since the world began. */
  seconds(): number {
    return (this.clock.monotonicMs() - this.startedAtMs) / 1_000;
  }

  evictedAtSeconds(pod: string): number | undefined {
    return this.writes.find((write) => write.verb === 'delete' && write.name === pod)?.atSeconds;
  }

  kinds(): readonly string[] {
    return this.decisions.map(({ decision }) => decision.kind);
  }

  /** The decisions of this kind, in order. */
  decided<Kind extends Decision['kind']>(kind: Kind): readonly Extract<Decision, { readonly kind: Kind }>[] {
    return this.decisions.flatMap(({ decision }) =>
      decision.kind === kind ? [decision as Extract<Decision, { readonly kind: Kind }>] : [],
    );
  }

  /** Messages of the Events about nodes with this reason. */
  nodeEventsOf(reason: string): readonly string[] {
    return this.nodeEvents.drafts.filter((draft) => draft.reason === reason).map(({ message }) => message);
  }

  /** Messages of the Events about evictions. */
  evictionMessages(): readonly string[] {
    return this.evictionEvents.drafts.map(({ message }) => message);
  }

  /** Those of these nodes that carry _unreachable_ with NoExecute. */
  tainted(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.taints(name).includes('unreachable:NoExecute'));
  }

  /** All nodes whose Ready condition is not True. */
  notReady(): readonly string[] {
    return [...this.#apiNodes.keys()].filter((name) => this.ready(name) !== 'True');
  }

  podReady(name: string): string | undefined {
    return this.pod(name)?.status?.conditions?.find((condition) => condition.type === 'Ready')?.status;
  }

  // --- the API ---

  /** Bookmarks show it to the watch of nodes at once. */
  #nextVersion(): string {
    this.#version += 1;
    if (!this.frozen && !this.nodesFrozen) this.#nodesReached = this.#version;
    return String(this.#version);
  }

  #renew(): void {
    for (const name of this.#renewing) this.#renewLease(name);
  }

  #renewLease(name: string): void {
    const lease = {
      metadata: {
        name,
        namespace: 'kube-node-lease',
        uid: `lease-${name}`,
        resourceVersion: this.#nextVersion(),
      },
      spec: {
        leaseDurationSeconds: this.#leaseDurations.get(name) ?? 40,
        renewTime: formatMicroTime(this.clock.nowMs() + (this.kubeletClocksMs.get(name) ?? 0)),
      },
    };
    this.#apiLeases.set(name, transformLease(lease));
    if (!this.frozen) this.leases.set(`kube-node-lease/${name}`, transformLease(lease));
  }

  async #readLeases(): Promise<ReadonlyMap<string, LeaseView>> {
    await this.answersAfter;
    if (this.answersAfterMs > 0) await this.clock.sleep(this.answersAfterMs, new AbortController().signal);
    if (!this.answering) throw noAnswer();
    if (!this.permitted) throw new ApiError({ reason: 'forbidden', message: 'not permitted', code: 403 });
    return new Map(this.#apiLeases);
  }

  async #readLease(node: string): Promise<LeaseRead> {
    if (this.unreadableLeases.has(node)) return { kind: 'unreadable', error: noAnswer() };
    return liveLeases(() => this.#readLeases()).readOne(node);
  }

  #storeNode(node: Node): void {
    const stored = { ...node, metadata: { ...node.metadata, resourceVersion: this.#nextVersion() } } as StoredNode;
    this.#apiNodes.set(stored.metadata.name, stored);
    if (!this.frozen && !this.nodesFrozen) this.nodes.set(stored.metadata.name, transformNode(stored));
  }

  #storePod(pod: Pod): void {
    const stored = { ...pod, metadata: { ...pod.metadata, resourceVersion: this.#nextVersion() } } as StoredPod;
    this.#apiPods.set(stored.metadata.name, stored);
    if (!this.frozen && !this.podsFrozen) this.#cachePod(stored);
  }

  #cachePod(pod: StoredPod): void {
    this.pods.set(`${pod.metadata.namespace}/${pod.metadata.name}`, transformPod(pod));
  }

  async #get(resource: string, name: string): Promise<KubeObject> {
    await this.beforeRead(resource, name);
    this.#maybeFail('get', resource);
    const object = resource === 'pods' ? this.#apiPods.get(name) : this.#apiNodes.get(name);
    if (object === undefined) throw notFound(resource, name);
    return object;
  }

  async #write(write: Omit<Write, 'atSeconds'>, _namespace: string | undefined): Promise<KubeObject> {
    await this.beforeWrite(write);
    const failure = this.#failures.find(
      (candidate) => candidate.left > 0 && matches(candidate, write.verb, write.resource),
    );
    if (failure?.butDone !== true) this.#maybeFail(write.verb, write.resource);
    const stored = write.resource === 'nodes' ? this.#apiNodes.get(write.name) : this.#apiPods.get(write.name);
    if (stored === undefined) throw notFound(write.resource, write.name);
    this.#checkGuards(stored, write);
    this.writes.push({ ...write, atSeconds: this.seconds() });
    const answer = this.#carryOut(stored, write);
    await this.afterWrite?.(write);
    if (failure?.butDone === true) this.#maybeFail(write.verb, write.resource);
    return answer;
  }

  #maybeFail(verb: Failure['verb'], resource: string): void {
    const failure = this.#failures.find((candidate) => candidate.left > 0 && matches(candidate, verb, resource));
    if (failure === undefined) return;
    failure.left -= 1;
    throw new ApiError({ reason: failure.reason, message: `injected ${failure.reason}` });
  }

  #checkGuards(stored: StoredNode | StoredPod, write: Omit<Write, 'atSeconds'>): void {
    const guard = (write.body as { metadata?: { uid?: string; resourceVersion?: string } } | undefined)?.metadata ?? {};
    const uid = write.uid ?? guard.uid;
    const version = write.resourceVersion ?? guard.resourceVersion;
    const stale = version !== undefined && version !== stored.metadata.resourceVersion;
    if (stale || (uid !== undefined && uid !== stored.metadata.uid)) {
      throw new ApiError({ reason: 'conflict', message: 'the object has been modified', code: 409 });
    }
  }

  #carryOut(stored: StoredNode | StoredPod, write: Omit<Write, 'atSeconds'>): KubeObject {
    if (write.verb !== 'patch') {
      this.#storePod({
        ...stored,
        metadata: { ...stored.metadata, deletionTimestamp: formatTime(this.clock.nowMs()) },
      } as Pod);
      return stored;
    }
    const body = write.body as { spec?: { taints: Taint[] | null }; status?: { conditions: Condition[] } };
    const conditions = mergeConditions(stored.status?.conditions, body.status?.conditions ?? []);
    const { labels, annotations } = (write.body as { metadata: Record<'labels' | 'annotations', Texts> }).metadata;
    const metadata = {
      ...stored.metadata,
      labels: mergeTexts(stored.metadata.labels, labels),
      annotations: mergeTexts(stored.metadata.annotations, annotations),
    };
    const patched = { ...stored, metadata, status: { ...stored.status, conditions } };
    if (this.dropsPatchesOf.has(write.resource)) return stored;
    if (write.resource === 'pods') this.#storePod(patched as Pod);
    else
      this.#storeNode(
        body.spec === undefined
          ? (patched as Node)
          : { ...patched, spec: { ...stored.spec, taints: body.spec.taints ?? [] } },
      );
    return (write.resource === 'pods' ? this.#apiPods.get(write.name) : this.#apiNodes.get(write.name)) ?? stored;
  }
}

type Texts = Readonly<Record<string, string | null>> | undefined;

/** null removes. */
function mergeTexts(stored: Texts, patch: Texts): Record<string, string> {
  const merged = Object.entries({ ...stored, ...patch });
  return Object.fromEntries(merged.flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}

function notFound(resource: string, name: string): ApiError {
  const status = { reason: 'NotFound', code: 404, details: { name, kind: resource } };
  return new ApiError({ reason: 'not-found', message: `${resource} "${name}" not found`, code: 404, status });
}

/** The request is not answered after an abort, and is carried out all the same. */
async function unlessAborted(request: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new ApiError({ reason: 'aborted', message: 'aborted' })));
  });
  request.catch(() => undefined);
  await Promise.race([request, aborted]);
}

function noAnswer(): ApiError {
  return new ApiError({ reason: 'timeout', message: 'no answer' });
}

function matches(failure: Failure, verb: string, resource: string): boolean {
  return failure.verb === verb && failure.resource === resource;
}

export function aCondition(type: string, status: string, at: string): Condition {
  return { type, status, reason: 'KubeletReady', message: 'posted', lastHeartbeatTime: at, lastTransitionTime: at };
}
