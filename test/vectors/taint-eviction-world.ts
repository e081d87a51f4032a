// The taint evictor alone: node and pod events are delivered by the vector, its timers fire when the vector moves the clock.
import assert from 'node:assert/strict';
import type { EventDraft } from '../../src/machinery/api/event.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { type NodeView, transformNode } from '../../src/machinery/api/node.ts';
import { podKey, type PodView, transformPod } from '../../src/machinery/api/pod.ts';
import { DecisionLog } from '../../src/controller/decision-log/decision-log.ts';
import { cancellingDeletion, markingForDeletion } from '../../src/controller/taint-eviction/events.ts';
import { TaintEvictor } from '../../src/controller/taint-eviction/taint-evictor.ts';
import { EventBroadcaster } from '../../src/machinery/events/event-broadcaster.ts';
import { MutationCache } from '../../src/machinery/informer/mutation-cache.ts';
import { FakeInformer } from '../support/fake-informer.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder, SeededRandom } from '../support/fakes.ts';
import { ApiChecks } from './api-checks.ts';
import { contains, equals, isMap, isSame, show } from './comparing.ts';
import { eventChecks } from './event-checks.ts';
import { type Given, type GivenNode, type GivenPod, type GivenTaint, type Step, faultOf } from './format.ts';
import { nodeOf, podOf } from './given-objects.ts';
import { metricChecks } from './metric-checks.ts';
import { writerOnto } from './node-workers.ts';
import { RecordingApi } from './recording-api.ts';
import { VectorClock } from './vector-clock.ts';
import { type Check, NotSupported, type Operation, type World } from './world.ts';
import { podsByNode } from '../../src/controller/model/indexes.ts';

const flushMsMax = 1_000;

export class TaintEvictionWorld implements World {
  readonly givens: readonly (keyof Given)[] = ['t0', 'nodes', 'pods', 'pod', 'taintedNodes', 'faults', 'taintKeys'];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly checks: Readonly<Record<string, Check>>;
  readonly #time: VectorClock;
  readonly #api: RecordingApi;
  readonly #apiChecks: ApiChecks;
  readonly #pods = new FakeInformer<PodView>('pods', { [podsByNode]: ({ nodeName }) => [nodeName] });
  readonly #recorder = new RecordingRecorder();
  readonly #meter = new RecordingMeter();
  readonly #given: Given;
  readonly #nodeNames: Set<string>;
  #life = new AbortController();
  #evictor: TaintEvictor;
  #running: Promise<void>;
  #emitted: KubeObject | undefined;

  constructor(given: Given) {
    this.#given = given;
    this.#time = new VectorClock(given.t0);
    this.#api = new RecordingApi(this.#time);
    this.#apiChecks = new ApiChecks(this.#api, this.#time);
    this.#evictor = this.#newEvictor();
    this.#running = this.#evictor.run(this.#life.signal);
    this.#nodeNames = new Set((given.nodes ?? []).map(({ name }) => name));
    for (const node of given.nodes ?? []) this.#api.put('nodes', nodeOf(node, this.#time.nowMs));
    // Its state was built before there was a pod; the pods of the vector are in the cache and not delivered yet.
    for (const [name, taints] of Object.entries(given.taintedNodes ?? {})) this.#deliverNode(null, { name, taints });
    for (const pod of given.pods ?? []) this.#putPod(pod);
    for (const fault of given.faults ?? []) this.#api.fail(fault);
    this.operations = this.#operations();
    this.checks = this.#checks();
  }

  async stop(): Promise<void> {
    this.#life.abort();
    await this.#running;
  }

  #newEvictor(): TaintEvictor {
    const { clock } = this.#time;
    const meter = this.#meter;
    const decisions = new DecisionLog(new RecordingLogger(), meter, () => clock.nowMs());
    const nodes = new MutationCache<NodeView>(() => undefined);
    const writer = writerOnto(this.#api, nodes, decisions, this.#life.signal);
    return new TaintEvictor({
      nodes: { get: (name) => this.#node(name) },
      pods: this.#pods,
      writer,
      decisions,
      recorder: this.#recorder,
      meter,
      clock,
      holds: { ask: () => undefined, of: () => [], ofPod: () => [] },
      isNodeWatchBehind: () => false,
      liveNode: () => assert.fail('not expected'),
    });
  }

  #node(name: string): NodeView | undefined {
    const node = this.#api.node(name);
    return node && transformNode(node);
  }

  // --- operations ---

  #operations(): Readonly<Record<string, Operation>> {
    return {
      advance: ({ seconds }) => this.#time.advance(seconds as number),
      podEvent: (step) => this.#podEvent(step),
      nodeEvent: (step) => this.#nodeEvent(step),
      syncNode: ({ node, taints }) => {
        const name = (node as string | undefined) ?? this.#onlyNode();
        const before = this.#api.node(name);
        this.#deliverNode(before === undefined ? null : { name }, { name, taints: taints as readonly GivenTaint[] });
        return this.#settle();
      },
      waitScheduled: async ({ pod }) => {
        await this.#settle();
        if (!this.#isScheduled(pod as string)) throw new Error(`the deletion of ${String(pod)} is not scheduled`);
      },
      failNext: (step) => {
        this.#api.fail(faultOf(step));
      },
      restart: () => this.#restart(),
      emitPodDeletionEvent: () => this.#emit(markingForDeletion(this.#namedPod())),
      emitCancelPodDeletionEvent: () => this.#emit(cancellingDeletion(this.#namedPod())),
    };
  }

  /** Everything that is due now, except retries after a delay. */
  #settle(): Promise<void> {
    return this.#time.advance(0);
  }

  #podEvent({ old, new: now }: Step): Promise<void> {
    const before = old as GivenPod | null;
    const after = now as GivenPod | null;
    if (after !== null) this.#deliverPod(before, after);
    else if (before !== null) this.#deliverPodDeletion(before);
    return this.#settle();
  }

  #deliverPod(before: GivenPod | null, after: GivenPod): void {
    const object = this.#putPod(after);
    const key = podKey(object);
    if (before === null) this.#evictor.onPod({ kind: 'added', key, object });
    else this.#evictor.onPod({ kind: 'modified', key, object, previous: this.#view(before) });
  }

  #deliverPodDeletion(before: GivenPod): void {
    const object = this.#view(before);
    const key = podKey(object);
    this.#api.remove('pods', key);
    this.#pods.delete(key);
    this.#evictor.onPod({ kind: 'deleted', key, object });
  }

  #nodeEvent({ old, new: now, node }: Step): Promise<void> {
    if (node !== undefined) throw new NotSupported('nodeEvent with only a name, for the evictor');
    this.#deliverNode(old as GivenNode | null, now as GivenNode | null);
    return this.#settle();
  }

  #deliverNode(old: GivenNode | null, now: GivenNode | null): void {
    if (now !== null) return this.#deliverNodeChange(old, now);
    if (old === null) throw new Error('nodeEvent without a node');
    this.#nodeNames.add(old.name);
    this.#api.remove('nodes', old.name);
    this.#evictor.onNode({ kind: 'deleted', key: old.name, object: transformNode(nodeOf(old, this.#time.nowMs)) });
  }

  #deliverNodeChange(old: GivenNode | null, now: GivenNode): void {
    this.#nodeNames.add(now.name);
    this.#api.put('nodes', nodeOf(now, this.#time.nowMs));
    const object = transformNode(nodeOf(now, this.#time.nowMs));
    if (old === null) this.#evictor.onNode({ kind: 'added', key: now.name, object });
    else {
      const previous = transformNode(nodeOf(old, this.#time.nowMs));
      this.#evictor.onNode({ kind: 'modified', key: now.name, object, previous });
    }
  }

  async #restart(): Promise<void> {
    await this.stop();
    this.#life = new AbortController();
    this.#evictor = this.#newEvictor();
    this.#running = this.#evictor.run(this.#life.signal);
    for (const { metadata } of this.#api.nodes()) {
      const object = transformNode(this.#api.node(metadata.name)!);
      this.#evictor.onNode({ kind: 'added', key: metadata.name, object });
    }
    for (const pod of this.#pods.values()) this.#evictor.onPod({ kind: 'added', key: podKey(pod), object: pod });
    await this.#settle();
  }

  #view(given: GivenPod): PodView {
    return transformPod(podOf(given, this.#time));
  }

  #putPod(given: GivenPod): PodView {
    const pod = podOf(given, this.#time);
    this.#api.put('pods', pod);
    const view = transformPod(this.#api.pod(podKey(transformPod(pod)))!);
    this.#pods.set(podKey(view), view);
    return view;
  }

  #onlyNode(): string {
    const [name, ...others] = this.#nodeNames;
    if (name === undefined || others.length > 0) throw new Error('exactly one node is expected');
    return name;
  }

  #namedPod(): { readonly namespace: string; readonly name: string } {
    const { namespace = 'default', name = 'pod' } = this.#given.pod ?? this.#given.pods?.[0] ?? {};
    return { namespace, name };
  }

  /** On the real path from a draft to a written event. */
  async #emit(draft: EventDraft): Promise<void> {
    this.#recorder.record(draft);
    const broadcaster = new EventBroadcaster({
      api: {
        create: (_resource, object) => {
          this.#emitted = object;
          return Promise.resolve(object);
        },
        patch: () => Promise.reject(new Error('no patch is expected')),
      },
      clock: this.#time.clock,
      random: new SeededRandom(1),
      logger: new RecordingLogger(),
      meter: new RecordingMeter(),
    });
    broadcaster.recorder('taint-eviction-controller').record(draft);
    await broadcaster.flush(flushMsMax);
  }

  // --- expectations ---

  #checks(): Readonly<Record<string, Check>> {
    return {
      ...this.#apiChecks.all(),
      ...eventChecks(() => this.#recorder.drafts),
      ...metricChecks(this.#meter),
      event: (expected: unknown) => this.#event(expected),
      scheduled: (expected: unknown) => this.#scheduled(expected),
      taintedNodes: (expected: unknown) =>
        this.#taintedNodes(expected as Readonly<Record<string, readonly GivenTaint[]>>),
      noCrash: equals(() => true),
      panic: equals(() => false),
    };
  }

  #event(expected: unknown): string | undefined {
    const { namespace, involvedObject, ...fields } = expected as Readonly<Record<string, unknown>>;
    const event = this.#emitted as unknown as Readonly<Record<string, unknown>> | undefined;
    const sameNamespace = namespace === undefined || this.#emitted?.metadata.namespace === namespace;
    const sameObject = involvedObject === undefined || isSame(event?.['involvedObject'], involvedObject);
    return contains(event, fields) && sameNamespace && sameObject ? undefined : show(event);
  }

  #isScheduled(pod: string): boolean {
    return [...this.#evictor.scheduled().keys()].some((key) => key === pod || key.slice(key.indexOf('/') + 1) === pod);
  }

  #scheduled(expected: unknown): string | undefined {
    const due = [...this.#evictor.scheduled()].map(([key, atMs]) => {
      return [key.slice(key.indexOf('/') + 1), { inS: (atMs - this.#time.clock.monotonicMs()) / 1_000 }] as const;
    });
    const names = due.map(([name]) => name).sort();
    if (typeof expected === 'boolean') return expected === due.length > 0 ? undefined : show(names);
    if (Array.isArray(expected))
      return isSame(names, (expected as readonly string[]).toSorted()) ? undefined : show(names);
    const found = Object.fromEntries(due);
    return isMap(expected) && isSame(found, expected) ? undefined : show(found);
  }

  #taintedNodes(expected: Readonly<Record<string, readonly GivenTaint[]>>): string | undefined {
    const names = new Set([...this.#nodeNames, ...Object.keys(expected)]);
    const remembered = [...names].map(
      (name) => [name, this.#evictor.runningTaints(name).map(({ taint }) => taint)] as const,
    );
    const found = Object.fromEntries(remembered.filter(([, taints]) => taints.length > 0));
    const same = Object.keys(found).length === Object.keys(expected).length && contains(found, expected);
    return same ? undefined : show(found);
  }
}
