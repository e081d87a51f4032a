// The stage of pod eviction mode, without a monitor before it: the vector queues the nodes.
import { type DaemonSetView, transformDaemonSet } from '../../src/machinery/api/daemonset.ts';
import { type NodeView, transformNode } from '../../src/machinery/api/node.ts';
import { podKey, type PodView, transformPod } from '../../src/machinery/api/pod.ts';
import { zoneOf } from '../../src/machinery/api/topology.ts';
import { DecisionLog } from '../../src/controller/decision-log/decision-log.ts';
import { readyOf } from '../../src/controller/health/assess-node.ts';
import { HealthTable } from '../../src/controller/health/health-table.ts';
import { PodEvictor } from '../../src/controller/pod-eviction-mode/pod-evictor.ts';
import { evictionsTotal } from '../../src/controller/tainting/metrics.ts';
import { ZoneTaintQueues } from '../../src/controller/tainting/zone-taint-queues.ts';
import { MutationCache } from '../../src/machinery/informer/mutation-cache.ts';
import { FakeInformer } from '../support/fake-informer.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder } from '../support/fakes.ts';
import { ApiChecks } from './api-checks.ts';
import { byName, equals } from './comparing.ts';
import { drainQueues } from './draining-queues.ts';
import { eventChecks } from './event-checks.ts';
import { faultOf, type Given, type GivenPod } from './format.ts';
import { nodeOf, podOf } from './given-objects.ts';
import { metricChecks } from './metric-checks.ts';
import { isQueue, optionsFrom } from './node-lifecycle-world.ts';
import { writerOnto } from './node-workers.ts';
import { RecordingApi } from './recording-api.ts';
import { VectorClock } from './vector-clock.ts';
import { type Check, NotSupported, type Operation, type World } from './world.ts';
import { zoneKey } from './zone-names.ts';
import { daemonSetsByNamespace, podsByNode } from '../../src/controller/model/indexes.ts';

/** Expectations specific to eviction, about pods of nodes that are queued or processed. */
export const podEvictionOperations: ReadonlySet<string> = new Set([
  'deletePods',
  'drainQueueWithDeletePods',
  'evictionPass',
  'evictionPassUntil',
  'maybeDeleteTerminatingPod',
]);

/** The operations of this world; other operations need the whole controller. */
export const podEvictionStageOperations: ReadonlySet<string> = new Set([
  ...podEvictionOperations,
  'advance',
  'failNext',
  'podEvent',
  'processPod',
]);

export class PodEvictionWorld implements World {
  readonly givens: readonly (keyof Given)[] = [
    't0',
    'flags',
    'nodes',
    'pods',
    'pod',
    'daemonSets',
    'faults',
    'queueItem',
    'nodeEvictionStatus',
    'nodeHealth',
  ];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly checks: Readonly<Record<string, Check>>;
  readonly #time: VectorClock;
  readonly #api: RecordingApi;
  readonly #nodes = new FakeInformer<NodeView>('nodes');
  readonly #pods = new FakeInformer<PodView>('pods', { [podsByNode]: ({ nodeName }) => [nodeName] });
  readonly #daemonSets = new FakeInformer<DaemonSetView>('daemonsets', {
    [daemonSetsByNamespace]: ({ namespace }) => [namespace],
  });
  readonly #recorder = new RecordingRecorder();
  readonly #meter = new RecordingMeter();
  readonly #stop = new AbortController();
  readonly #health: HealthTable;
  readonly #queues: ZoneTaintQueues;
  readonly #evictor: PodEvictor;
  readonly #timeoutMs: number;
  #asked = '';

  constructor(given: Given) {
    const options = optionsFrom(given.flags);
    this.#timeoutMs = options.podEvictionTimeoutMs;
    this.#time = new VectorClock(given.t0);
    this.#api = new RecordingApi(this.#time);
    this.#health = new HealthTable({ current: () => options });
    this.#queues = new ZoneTaintQueues(() => options, this.#meter, this.#time.clock);
    this.#evictor = this.#newEvictor();
    this.#populate(given);
    if (given.queueItem !== undefined) this.#enqueueNode(given.queueItem);
    this.#mark(given.nodeEvictionStatus ?? {});
    this.#showPods(given);
    for (const fault of given.faults ?? []) this.#api.fail(fault);
    this.operations = this.#operations();
    this.checks = this.#checks();
  }

  stop(): Promise<void> {
    this.#stop.abort();
    return Promise.resolve();
  }

  #newEvictor(): PodEvictor {
    const { clock } = this.#time;
    const { signal } = this.#stop;
    const meter = this.#meter;
    const decisions = new DecisionLog(new RecordingLogger(), meter, () => clock.nowMs());
    const nodes = new MutationCache<NodeView>((name) => this.#nodes.get(name));
    return new PodEvictor({
      options: { current: () => ({ podEvictionTimeoutMs: this.#timeoutMs }) },
      nodes,
      pods: this.#pods,
      daemonSets: this.#daemonSets,
      queues: this.#queues,
      zoneOf: ({ labels }) => zoneOf(labels),
      serving: { wakeUp: () => undefined },
      readyOf,
      healthOf: (node) => this.#health.get(node),
      healthNowMs: () => clock.monotonicMs(),
      holds: { isIntended: () => false, isHeldForAll: () => false, heldForMs: () => 0 },
      liveNode: () => 'gone',
      isNodeWatchBehind: () => false,
      fullDisruption: () => false,
      writer: writerOnto(this.#api, nodes, decisions, signal),
      decisions,
      recorder: this.#recorder,
      meter,
      evictionsTotal,
      clock,
    });
  }

  /** Nodes are silent for so long that their pods may be evicted; the vector sets the other preconditions. */
  #populate({ nodes = [], daemonSets = [], nodeHealth }: Given): void {
    const nowMs = this.#time.clock.monotonicMs();
    const longAgo = { monotonicMs: nowMs - this.#timeoutMs - 1, wallMs: this.#time.nowMs - this.#timeoutMs - 1 };
    for (const given of nodes) {
      this.#api.put('nodes', nodeOf(given, this.#time.nowMs));
      const view = transformNode(this.#api.node(given.name)!);
      this.#health.observe(view, undefined, longAgo);
      this.#nodes.set(given.name, view);
      const remembered = nodeHealth?.[given.name];
      if (remembered !== undefined && remembered !== readyOf(view))
        throw new NotSupported('health that differs from the cache');
    }
    for (const { namespace, name, selector } of daemonSets) {
      this.#daemonSets.set(
        `${namespace}/${name}`,
        transformDaemonSet({ metadata: { namespace, name }, spec: { selector } }),
      );
    }
  }

  #showPods({ pods = [], pod }: Given): void {
    for (const given of pods) this.#api.put('pods', podOf(given, this.#time));
    if (pod !== undefined) this.#api.put('pods', podOf(pod, this.#time));
    this.#syncPods();
  }

  /** Lets the evictor perform the earlier evictions of the vector, before its pods exist. */
  #mark(marks: Readonly<Record<string, string>>): void {
    const named = (mark: string): readonly string[] => Object.keys(marks).filter((node) => marks[node] === mark);
    for (const node of named('evicted')) this.#grantSlot(node);
    for (const node of named('toBeEvicted')) this.#enqueueNode(node);
    this.#meter.series.clear();
  }

  #grantSlot(name: string): void {
    this.#enqueueNode(name);
    // A pass grants its slots before it returns.
    void this.#evictor.pass();
    if (this.#evictor.markOf(name) !== 'evicted') throw new NotSupported(`evicted node not due: ${name}`);
    const zone = zoneOf(this.#nodes.get(name)?.labels ?? {});
    this.#queues.get(zone)?.returnToken(this.#time.clock.monotonicMs());
  }

  #enqueueNode(name: string): void {
    this.#asked = name;
    this.#queues.add(name, zoneOf(this.#nodes.get(name)?.labels ?? {}), this.#time.clock.monotonicMs());
  }

  #operations(): Readonly<Record<string, Operation>> {
    return {
      advance: ({ seconds }) => this.#time.advance(seconds as number),
      deletePods: ({ node }) => {
        this.#enqueueNode(node as string);
        return this.#pass();
      },
      drainQueueWithDeletePods: () =>
        drainQueues(this.#queues, {
          nowMs: () => this.#time.clock.monotonicMs(),
          wait: (ms) => this.#time.runAhead(ms),
          serve: () => this.#pass(),
        }),
      evictionPass: () => this.#pass(),
      evictionPassUntil: ({ maxSeconds }, { expectationsHold }) =>
        this.#passUntil(maxSeconds as number, expectationsHold),
      podEvent: ({ new: now }) => this.#podEvent(now as GivenPod | null),
      processPod: ({ namespace, name }) => this.#deliverPod(`${namespace as string}/${name as string}`),
      maybeDeleteTerminatingPod: () => this.#deliverAllPods(),
      failNext: (step) => {
        this.#api.fail(faultOf(step));
      },
    };
  }

  async #pass(): Promise<void> {
    this.#syncPods();
    await this.#evictor.pass();
    await this.#evictor.drain();
  }

  /** At least once, so that an unexpected action can happen. */
  async #passUntil(maxSeconds: number, hold: () => boolean): Promise<void> {
    await this.#pass();
    for (let left = maxSeconds; left > 0 && !hold(); left -= 1) {
      await this.#time.advance(1);
      await this.#pass();
    }
  }

  /** A pod is added or changed. */
  async #podEvent(now: GivenPod | null): Promise<void> {
    if (now === null) throw new NotSupported('deletion of a pod');
    const pod = podOf(now, this.#time);
    const previous = this.#pods.get(podKey(transformPod(pod)));
    this.#api.put('pods', pod);
    this.#syncPods();
    await this.#deliverPod(podKey(transformPod(pod)), previous);
  }

  async #deliverPod(key: string, previous?: PodView): Promise<void> {
    const object = this.#pods.get(key);
    if (object === undefined) throw new NotSupported(`pod not in the cache: ${key}`);
    this.#evictor.onPod(
      previous === undefined ? { kind: 'added', key, object } : { kind: 'modified', key, object, previous },
    );
    await this.#evictor.drain();
  }

  async #deliverAllPods(): Promise<void> {
    for (const key of this.#pods.keys()) await this.#deliverPod(key);
  }

  #syncPods(): void {
    const living = new Map(this.#api.pods().map((pod) => [podKey(transformPod(pod)), transformPod(pod)]));
    for (const key of this.#pods.keys()) if (!living.has(key)) this.#pods.delete(key);
    for (const [key, pod] of living) this.#pods.set(key, pod);
  }

  #checks(): Readonly<Record<string, Check>> {
    return {
      ...new ApiChecks(this.#api, this.#time).all(),
      ...eventChecks(() => this.#recorder.drafts),
      ...metricChecks(this.#meter),
      queue: byName((zone) => this.#queues.get(zoneKey(zone))?.keysInOrder() ?? [], isQueue),
      remaining: equals(() => this.#evictor.remaining(this.#asked).length > 0),
      noCrash: equals(() => true),
      panic: equals(() => false),
    };
  }
}
