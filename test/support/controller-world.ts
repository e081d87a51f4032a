// A small cluster on a manual clock: real controller, real stages, an API that keeps versions and merges as the real one
// does, and caches that follow it at once or, when frozen, not at all.
import { ApiError, type ApiReason } from '../../src/api/api-error.ts';
import { type Condition, listConditions } from '../../src/api/conditions.ts';
import type { DaemonSetView } from '../../src/api/daemonset.ts';
import { type LeaseView, viewLease } from '../../src/api/lease.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { type Node, type NodeView, viewNode } from '../../src/api/node.ts';
import { type Pod, type PodView, viewPod } from '../../src/api/pod.ts';
import type { Taint } from '../../src/api/taints.ts';
import { formatMicroTime, formatTime } from '../../src/api/timestamps.ts';
import type { Toleration } from '../../src/api/tolerations.ts';
import type { NotedDecision } from '../../src/controller/decision-log.ts';
import { daemonSetsByNamespace, NodeLifecycle, podsByNode } from '../../src/controller/node-lifecycle.ts';
import {
  type ControllerOptions,
  type ControllerSelection,
  defaultControllerOptions,
  defaultControllerSelection,
  defaultPodGcOptions,
  type PodGcOptions,
} from '../../src/controller/options.ts';
import type { CanaryLease } from '../../src/ports/sight.ts';
import { FakeInformer } from './fake-informer.ts';
import { ManualClock, settled } from './manual-clock.ts';
import { OpenLanes } from './open-lanes.ts';
import { KeepingLogger, KeepingMeter, KeepingRecorder } from './quiet.ts';

export interface Write {
  readonly atSeconds: number;
  readonly verb: 'patch' | 'delete';
  readonly resource: string;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly body: unknown;
  readonly uid: string | undefined;
}

interface Failure {
  readonly verb: 'patch' | 'delete' | 'get';
  readonly resource: string;
  readonly reason: ApiReason;
  /** The write is carried out all the same. */
  readonly butDone?: boolean;
  left: number;
}

type StoredNode = Node & { metadata: { name: string; uid: string; resourceVersion: string } };
type StoredPod = Pod & { metadata: { namespace: string; name: string; uid: string; resourceVersion: string } };

export class ControllerWorld {
  readonly clock = new ManualClock();
  readonly logger = new KeepingLogger();
  readonly meter = new KeepingMeter();
  readonly nodeEvents = new KeepingRecorder();
  readonly evictionEvents = new KeepingRecorder();
  readonly nodes = new FakeInformer<NodeView>('nodes');
  readonly leases = new FakeInformer<LeaseView>('leases');
  readonly pods = new FakeInformer<PodView>('pods', {
    [podsByNode]: (pod) => (pod.nodeName === '' ? [] : [pod.nodeName]),
  });
  readonly daemonSets = new FakeInformer<DaemonSetView>('daemonsets', {
    [daemonSetsByNamespace]: ({ namespace }) => [namespace],
  });
  readonly writes: Write[] = [];
  readonly decisions: NotedDecision[] = [];
  leading = true;
  /** Does the API server answer reads? */
  answering = true;
  /** What the answers to reads of leases wait for. */
  answersAfter: Promise<unknown> = Promise.resolve();
  /** Whether the API server lets us read single leases. */
  permitted = true;
  frozen = false;
  /** From the next restart on. */
  canaryLease: CanaryLease | undefined;
  lifecycle: NodeLifecycle;
  readonly options: ControllerOptions;
  readonly controllers: ControllerSelection;
  readonly podGc: PodGcOptions;
  readonly #apiNodes = new Map<string, StoredNode>();
  readonly #apiPods = new Map<string, StoredPod>();
  readonly #apiLeases = new Map<string, LeaseView>();
  readonly #failures: Failure[] = [];
  readonly #renewing = new Set<string>();
  readonly startedAtMs: number;
  #version = 100;
  #uid = 0;
  #stop = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(
    options: Partial<ControllerOptions> = {},
    controllers: Partial<ControllerSelection> = {},
    podGc: PodGcOptions = defaultPodGcOptions,
  ) {
    this.controllers = { ...defaultControllerSelection, ...controllers };
    this.options = { ...defaultControllerOptions, ...options };
    this.podGc = podGc;
    this.startedAtMs = this.clock.monotonicMs();
    this.leases.lastFrameAtMs = () => this.clock.monotonicMs();
    this.lifecycle = this.#newLifecycle();
  }

  #newLifecycle(): NodeLifecycle {
    const lifecycle = new NodeLifecycle({
      options: this.options,
      controllers: this.controllers,
      podGc: this.podGc,
      informers: { nodes: this.nodes, leases: this.leases, pods: this.pods, daemonSets: this.daemonSets },
      api: {
        get: (resource, { name }) => this.#get(resource, name),
        patch: (resource, { namespace, name }, patch, { subresource }) =>
          this.#write({ verb: 'patch', resource, name, subresource, body: patch.body, uid: undefined }, namespace),
        delete: async (resource, { namespace, name }, { uid }) => {
          await this.#write(
            { verb: 'delete', resource, name, subresource: undefined, body: undefined, uid },
            namespace,
          );
        },
      },
      liveLeases: {
        read: (nodes) => this.#readLeases(nodes),
        probe: () => (this.answering ? Promise.resolve() : Promise.reject(noAnswer())),
      },
      canaryLease: this.canaryLease,
      lanes: new OpenLanes(),
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

  addNode(
    name: string,
    options: { readonly zone?: string; readonly ready?: string; readonly taints?: readonly Taint[] } = {},
  ): void {
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
      },
    });
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

  /** A node as it came, however it came: the cache shows what our views make of it. It renews nothing by itself. */
  putNode(raw: Node): void {
    this.#storeNode(raw);
  }

  putPod(raw: Pod): void {
    this.#storePod(raw);
  }

  removePod(name: string): void {
    this.#apiPods.delete(name);
    this.pods.delete(`default/${name}`);
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

  goDark(...names: readonly string[]): void {
    for (const name of names) this.#renewing.delete(name);
  }

  setTaints(name: string, taints: readonly Taint[]): void {
    const node = this.#apiNodes.get(name);
    if (node !== undefined) this.#storeNode({ ...node, spec: { ...node.spec, taints } });
  }

  setLabels(name: string, labels: Readonly<Record<string, string>>): void {
    const node = this.#apiNodes.get(name);
    if (node !== undefined) this.#storeNode({ ...node, metadata: { ...node.metadata, labels } });
  }

  failNext(verb: Failure['verb'], resource: string, reason: ApiReason, left = 1, butDone = false): void {
    this.#failures.push({ verb, resource, reason, left, butDone });
  }

  /** The caches follow what the API has, once. */
  syncCaches(): void {
    for (const node of this.#apiNodes.values()) this.nodes.set(node.metadata.name, viewNode(node));
    for (const pod of this.#apiPods.values()) this.pods.set(`default/${pod.metadata.name}`, viewPod(pod));
  }

  // --- the controller ---

  start(): void {
    this.#stop = new AbortController();
    this.#running = this.lifecycle.lead(this.#stop.signal);
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

  /** As a changed config file does it to a running controller. */
  changeOptions(options: Partial<ControllerOptions>): void {
    const changes = Object.entries(options).map(([setting, to]) => ({ setting, from: 'before', to: String(to) }));
    Object.assign(this.options, options);
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

  // --- the API ---

  #renew(): void {
    for (const name of this.#renewing) {
      const lease = {
        metadata: {
          name,
          namespace: 'kube-node-lease',
          uid: `lease-${name}`,
          resourceVersion: String(++this.#version),
        },
        spec: { renewTime: formatMicroTime(this.clock.nowMs()) },
      };
      this.#apiLeases.set(name, viewLease(lease));
      if (!this.frozen) this.leases.set(`kube-node-lease/${name}`, viewLease(lease));
    }
  }

  async #readLeases(nodes: readonly string[]): Promise<ReadonlyMap<string, LeaseView>> {
    await this.answersAfter;
    if (!this.answering) throw noAnswer();
    if (!this.permitted) throw new ApiError({ reason: 'forbidden', message: 'not permitted', code: 403 });
    return new Map([...this.#apiLeases].filter(([name]) => nodes.includes(name)));
  }

  #storeNode(node: Node): void {
    const stored = { ...node, metadata: { ...node.metadata, resourceVersion: String(++this.#version) } } as StoredNode;
    this.#apiNodes.set(stored.metadata.name, stored);
    if (!this.frozen) this.nodes.set(stored.metadata.name, viewNode(stored));
  }

  #storePod(pod: Pod): void {
    const stored = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(++this.#version) } } as StoredPod;
    this.#apiPods.set(stored.metadata.name, stored);
    if (!this.frozen) this.pods.set(`default/${stored.metadata.name}`, viewPod(stored));
  }

  async #get(resource: string, name: string): Promise<KubeObject> {
    await Promise.resolve();
    this.#maybeFail('get', resource);
    const node = this.#apiNodes.get(name);
    if (node === undefined) throw notFound(resource, name);
    return node;
  }

  async #write(write: Omit<Write, 'atSeconds'>, _namespace: string | undefined): Promise<KubeObject> {
    await Promise.resolve();
    const failure = this.#failures.find(
      (candidate) => candidate.left > 0 && matches(candidate, write.verb, write.resource),
    );
    if (failure?.butDone !== true) this.#maybeFail(write.verb, write.resource);
    const stored = write.resource === 'nodes' ? this.#apiNodes.get(write.name) : this.#apiPods.get(write.name);
    if (stored === undefined) throw notFound(write.resource, write.name);
    this.#checkGuards(stored, write);
    this.writes.push({ ...write, atSeconds: this.seconds() });
    const answer = this.#carryOut(stored, write);
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
    const stale = guard.resourceVersion !== undefined && guard.resourceVersion !== stored.metadata.resourceVersion;
    if (stale || (uid !== undefined && uid !== stored.metadata.uid)) {
      throw new ApiError({ reason: 'conflict', message: 'the object has been modified', code: 409 });
    }
  }

  #carryOut(stored: StoredNode | StoredPod, write: Omit<Write, 'atSeconds'>): KubeObject {
    if (write.verb === 'delete') {
      this.#storePod({
        ...stored,
        metadata: { ...stored.metadata, deletionTimestamp: formatTime(this.clock.nowMs()) },
      } as Pod);
      return stored;
    }
    const body = write.body as { spec?: { taints: Taint[] | null }; status?: { conditions: Condition[] } };
    const conditions = mergeByType(stored.status?.conditions, body.status?.conditions ?? []);
    const { labels } = (write.body as { metadata: { labels?: Record<string, string> } }).metadata;
    const metadata = { ...stored.metadata, labels: { ...stored.metadata.labels, ...labels } };
    const patched = { ...stored, metadata, status: { ...stored.status, conditions } };
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

function notFound(resource: string, name: string): ApiError {
  const status = { reason: 'NotFound', code: 404, details: { name, kind: resource } };
  return new ApiError({ reason: 'not-found', message: `${resource} "${name}" not found`, code: 404, status });
}

function noAnswer(): ApiError {
  return new ApiError({ reason: 'timeout', message: 'no answer' });
}

function matches(failure: Failure, verb: string, resource: string): boolean {
  return failure.verb === verb && failure.resource === resource;
}

/** What was malformed is replaced by what is not, as nobody could merge it. */
function mergeByType(before: unknown, patch: readonly Condition[]): readonly Condition[] {
  const stored = listConditions(before);
  const merged = stored.map((condition) => ({ ...condition, ...patch.find(({ type }) => type === condition.type) }));
  return [...merged, ...patch.filter(({ type }) => !stored.some((condition) => condition.type === type))];
}

export function aCondition(type: string, status: string, at: string): Condition {
  return { type, status, reason: 'KubeletReady', message: 'posted', lastHeartbeatTime: at, lastTransitionTime: at };
}
