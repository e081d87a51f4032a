// Eviction mode's own stage, without a monitor before it: nodes are in line because the vector says so.
import type { DaemonSetView } from '../../src/api/daemonset.ts';
import { viewDaemonSet } from '../../src/api/daemonset.ts';
import { type NodeView, viewNode } from '../../src/api/node.ts';
import { podKey, type PodView, viewPod } from '../../src/api/pod.ts';
import { zoneOf } from '../../src/api/topology.ts';
import { DecisionLog } from '../../src/controller/decision-log.ts';
import { podsByNode } from '../../src/controller/eviction/taint-evictor.ts';
import { readyOf } from '../../src/controller/health/assess-node.ts';
import { HealthTable } from '../../src/controller/health/health-table.ts';
import { daemonSetsByNamespace } from '../../src/controller/pod-eviction/pod-deleter.ts';
import { PodEvictor } from '../../src/controller/pod-eviction/pod-evictor.ts';
import { evictionsTotal } from '../../src/controller/tainting/metrics.ts';
import { ZoneTaintQueues } from '../../src/controller/tainting/zone-taint-queues.ts';
import { ApiWriter } from '../../src/controller/writer/api-writer.ts';
import { NewerAnswers } from '../../src/informer/newer-answers.ts';
import { FakeInformer } from '../support/fake-informer.ts';
import { KeepingLogger, KeepingMeter, KeepingRecorder } from '../support/quiet.ts';
import { ApiChecks } from './api-checks.ts';
import { byName, equals } from './comparing.ts';
import { drainLines } from './draining-lines.ts';
import { eventChecks } from './event-checks.ts';
import { faultOf, type Given, type GivenPod } from './format.ts';
import { nodeOf, podOf } from './given-objects.ts';
import { metricChecks } from './metric-checks.ts';
import { isQueue, optionsFrom } from './node-lifecycle-world.ts';
import { OpenLanes } from '../support/open-lanes.ts';
import { RecordingApi } from './recording-api.ts';
import { VectorClock } from './vector-clock.ts';
import { type Check, NotSupported, type Operation, type World } from './world.ts';
import { ourZone } from './zone-names.ts';

/** What only eviction does, with pods of nodes that are in line or had their turn. */
export const podEvictionOperations: ReadonlySet<string> = new Set([
  'deletePods',
  'drainQueueWithDeletePods',
  'evictionPass',
  'evictionPassUntil',
  'maybeDeleteTerminatingPod',
]);

/** What this world is for, if nothing else is done; everything else needs the whole controller. */
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
  readonly #recorder = new KeepingRecorder();
  readonly #meter = new KeepingMeter();
  readonly #stop = new AbortController();
  readonly #health: HealthTable;
  readonly #lines: ZoneTaintQueues;
  readonly #evictor: PodEvictor;
  readonly #timeoutMs: number;
  #asked = '';

  constructor(given: Given) {
    const options = optionsFrom(given.flags);
    this.#timeoutMs = options.podEvictionTimeoutMs;
    this.#time = new VectorClock(given.t0);
    this.#api = new RecordingApi(this.#time);
    this.#health = new HealthTable(options);
    this.#lines = new ZoneTaintQueues(options, this.#meter, this.#time.clock);
    this.#evictor = this.#newEvictor();
    this.#populate(given);
    if (given.queueItem !== undefined) this.#putInLine(given.queueItem);
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
    const decisions = new DecisionLog(new KeepingLogger(), meter, () => clock.nowMs());
    const nodes = new NewerAnswers<NodeView>((name) => this.#nodes.get(name));
    const leadership = { holds: (): boolean => true };
    return new PodEvictor({
      podEvictionTimeoutMs: this.#timeoutMs,
      nodes,
      pods: this.#pods,
      podsByNode,
      daemonSets: this.#daemonSets,
      lines: this.#lines,
      readyOf,
      healthOf: (node) => this.#health.get(node),
      healthNowMs: () => clock.monotonicMs(),
      isHeld: () => false,
      writer: new ApiWriter({ api: this.#api.client, lanes: new OpenLanes(), leadership, nodes, decisions, signal }),
      decisions,
      recorder: this.#recorder,
      meter,
      evictionsTotal,
      clock,
    });
  }

  /** Nodes were last heard of so long ago that their pods may go; what else is needed for that is the vector's to say. */
  #populate({ nodes = [], daemonSets = [], nodeHealth }: Given): void {
    const nowMs = this.#time.clock.monotonicMs();
    const longAgo = { monotonicMs: nowMs - this.#timeoutMs - 1, wallMs: this.#time.nowMs - this.#timeoutMs - 1 };
    for (const given of nodes) {
      this.#api.put('nodes', nodeOf(given, this.#time.nowMs));
      const view = viewNode(this.#api.node(given.name)!);
      this.#health.observe(view, undefined, longAgo);
      this.#nodes.set(given.name, view);
      const remembered = nodeHealth?.[given.name];
      if (remembered !== undefined && remembered !== readyOf(view)) throw new NotSupported('other health than shown');
    }
    for (const { namespace, name, selector } of daemonSets) {
      this.#daemonSets.set(
        `${namespace}/${name}`,
        viewDaemonSet({ metadata: { namespace, name }, spec: { selector } }),
      );
    }
  }

  #showPods({ pods = [], pod }: Given): void {
    for (const given of pods) this.#api.put('pods', podOf(given, this.#time));
    if (pod !== undefined) this.#api.put('pods', podOf(pod, this.#time));
    this.#syncPods();
  }

  /** Has the evictor live through what the vector says that it did, before there are pods. */
  #mark(marks: Readonly<Record<string, string>>): void {
    const named = (mark: string): readonly string[] => Object.keys(marks).filter((node) => marks[node] === mark);
    for (const node of named('evicted')) this.#letPass(node);
    for (const node of named('toBeEvicted')) this.#putInLine(node);
    this.#meter.series.clear();
  }

  #letPass(name: string): void {
    this.#putInLine(name);
    // A pass hands out its turns before it returns.
    void this.#evictor.pass();
    if (this.#evictor.markOf(name) !== 'evicted') throw new NotSupported(`an evicted node that is not due: ${name}`);
    const zone = zoneOf(this.#nodes.get(name)?.labels ?? {});
    this.#lines.get(zone)?.giveTokenBack(this.#time.clock.monotonicMs());
  }

  #putInLine(name: string): void {
    this.#asked = name;
    this.#lines.add(name, zoneOf(this.#nodes.get(name)?.labels ?? {}), this.#time.clock.monotonicMs());
  }

  #operations(): Readonly<Record<string, Operation>> {
    return {
      advance: ({ seconds }) => this.#time.advance(seconds as number),
      deletePods: ({ node }) => {
        this.#putInLine(node as string);
        return this.#pass();
      },
      drainQueueWithDeletePods: () =>
        drainLines(this.#lines, {
          nowMs: () => this.#time.clock.monotonicMs(),
          wait: (ms) => this.#time.runAhead(ms),
          serve: () => this.#pass(),
        }),
      evictionPass: () => this.#pass(),
      evictionPassUntil: ({ maxSeconds }, { expectationsHold }) =>
        this.#passUntil(maxSeconds as number, expectationsHold),
      podEvent: ({ new: now }) => this.#podEvent(now as GivenPod | null),
      processPod: ({ namespace, name }) => this.#hear(`${namespace as string}/${name as string}`),
      maybeDeleteTerminatingPod: () => this.#hearAll(),
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

  /** At least once, so that what must not happen has had its chance. */
  async #passUntil(maxSeconds: number, hold: () => boolean): Promise<void> {
    await this.#pass();
    for (let left = maxSeconds; left > 0 && !hold(); left -= 1) {
      await this.#time.advance(1);
      await this.#pass();
    }
  }

  /** A pod appears, or changes. */
  async #podEvent(now: GivenPod | null): Promise<void> {
    if (now === null) throw new NotSupported('the deletion of a pod, here');
    const pod = podOf(now, this.#time);
    const previous = this.#pods.get(podKey(viewPod(pod)));
    this.#api.put('pods', pod);
    this.#syncPods();
    await this.#hear(podKey(viewPod(pod)), previous);
  }

  async #hear(key: string, previous?: PodView): Promise<void> {
    const object = this.#pods.get(key);
    if (object === undefined) throw new NotSupported(`a pod that is not in the cache: ${key}`);
    this.#evictor.onPod(
      previous === undefined ? { kind: 'added', key, object } : { kind: 'modified', key, object, previous },
    );
    await this.#evictor.drain();
  }

  async #hearAll(): Promise<void> {
    for (const key of this.#pods.keys()) await this.#hear(key);
  }

  #syncPods(): void {
    const living = new Map(this.#api.pods().map((pod) => [podKey(viewPod(pod)), viewPod(pod)]));
    for (const key of this.#pods.keys()) if (!living.has(key)) this.#pods.delete(key);
    for (const [key, pod] of living) this.#pods.set(key, pod);
  }

  #checks(): Readonly<Record<string, Check>> {
    return {
      ...new ApiChecks(this.#api, this.#time).all(),
      ...eventChecks(() => this.#recorder.drafts),
      ...metricChecks(this.#meter),
      queue: byName((zone) => this.#lines.get(ourZone(zone))?.keysInOrder() ?? [], isQueue),
      remaining: equals(() => this.#evictor.remaining(this.#asked).length > 0),
      noCrash: equals(() => true),
      panic: equals(() => false),
    };
  }
}
