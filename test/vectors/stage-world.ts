// One stage of the controller, run alone: the node worker's NoSchedule taints, or the marking of pods.
import { type NodeView, transformNode } from '../../src/machinery/api/node.ts';
import { findCondition, neverUpdated } from '../../src/machinery/api/conditions.ts';
import { podKey, type PodView, transformPod } from '../../src/machinery/api/pod.ts';
import { DecisionLog } from '../../src/controller/decision-log/decision-log.ts';
import { readyOf } from '../../src/controller/health/assess-node.ts';
import { HealthTable } from '../../src/controller/health/health-table.ts';
import { PodMarker } from '../../src/controller/pod-readiness/pod-marker.ts';
import { MutationCache } from '../../src/machinery/informer/mutation-cache.ts';
import { FakeInformer } from '../support/fake-informer.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder } from '../support/fakes.ts';
import { ApiChecks } from './api-checks.ts';
import { equals } from './comparing.ts';
import { eventChecks } from './event-checks.ts';
import { type Given, type GivenPod, type Step, faultOf } from './format.ts';
import { nodeOf, podOf, populationOf } from './given-objects.ts';
import { optionsFrom } from './node-lifecycle-world.ts';
import { NodeWorkers, writerOnto } from './node-workers.ts';
import { RecordingApi } from './recording-api.ts';
import { VectorClock } from './vector-clock.ts';
import { type Check, NotSupported, type Operation, type World } from './world.ts';
import { podsByNode } from '../../src/controller/model/indexes.ts';

/** Longer than any first retry delay: requeued keys are processed by then. */
const retrySeconds = 60;

/** The operations of this world; other operations need the whole controller. */
export const stageOperations: ReadonlySet<string> = new Set([
  'advance',
  'noSchedulePass',
  'nodeEvent',
  'drainNodeWorkers',
  'processPod',
  'podEvent',
  'markPodsNotReady',
  'failNext',
  'reconcileLabels',
]);

export class StageWorld implements World {
  readonly givens: readonly (keyof Given)[] = [
    't0',
    'flags',
    'nodes',
    'pods',
    'generate',
    'faults',
    'nodeHealth',
    'taintKeys',
  ];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly checks: Readonly<Record<string, Check>>;
  readonly #time: VectorClock;
  readonly #api: RecordingApi;
  readonly #apiChecks: ApiChecks;
  readonly #cached = new Map<string, NodeView>();
  readonly #nodes: MutationCache<NodeView>;
  readonly #pods = new FakeInformer<PodView>('pods', { [podsByNode]: ({ nodeName }) => [nodeName] });
  readonly #recorder = new RecordingRecorder();
  readonly #health: HealthTable;
  readonly #workers: NodeWorkers;
  readonly #marker: PodMarker;
  readonly #graceMs: number;
  #enqueued = false;
  #requeued: boolean | undefined;

  constructor(given: Given) {
    this.#time = new VectorClock(given.t0);
    this.#api = new RecordingApi(this.#time);
    this.#apiChecks = new ApiChecks(this.#api, this.#time);
    this.#nodes = new MutationCache((name) => this.#cached.get(name));
    const options = optionsFrom(given.flags);
    this.#graceMs = options.nodeMonitorGracePeriodMs;
    this.#health = new HealthTable({ current: () => options });
    const { clock } = this.#time;
    const decisions = new DecisionLog(new RecordingLogger(), new RecordingMeter(), () => clock.nowMs());
    const writer = writerOnto(this.#api, this.#nodes, decisions, new AbortController().signal);
    this.#workers = new NodeWorkers({ time: this.#time, nodes: this.#nodes, writer, decisions });
    this.#marker = new PodMarker({
      pods: this.#pods,
      stateOf: (name) => this.#stateOf(name),
      slots: {
        admits: () => true,
        enqueue: () => undefined,
        dequeue: () => undefined,
        isPaused: () => false,
        isHeld: () => false,
        isKnown: () => false,
        isMarked: () => false,
        isBeforeMark: () => false,
        noteMarked: () => undefined,
        forgetPod: () => undefined,
        queuedNodes: () => [],
        serve: () => undefined,
        nextDueMs: () => Infinity,
      },
      writer,
      decisions,
      recorder: this.#recorder,
      meter: new RecordingMeter(),
      clock,
    });
    this.#populate(given);
    this.operations = this.#operations();
    this.checks = this.#checks();
  }

  /** As the assembled controller returns it. */
  #stateOf(name: string): ReturnType<ConstructorParameters<typeof PodMarker>[0]['stateOf']> {
    const node = this.#nodes.get(name);
    const record = this.#health.get(name);
    if (node === undefined || record === undefined) return undefined;
    return {
      ready: readyOf(node),
      hasRecentHeartbeat:
        record.heartbeatSinceUnknown && this.#time.clock.monotonicMs() - record.heartbeatAtMs <= this.#graceMs,
      neverPosted: findCondition(node.conditions, 'Ready')?.reason === neverUpdated.reason,
      isNotReadyForLong: false,
    };
  }

  #populate(given: Given): void {
    const { nodes, pods } = populationOf(given);
    for (const node of nodes) {
      this.#api.put('nodes', nodeOf(node, this.#time.nowMs));
      this.#apiChecks.notePosted(node.name);
      this.#cached.set(node.name, transformNode(this.#api.node(node.name)!));
    }
    for (const pod of pods) this.#putPod(pod);
    for (const [name, health] of Object.entries(given.nodeHealth ?? {})) this.#remember(name, health);
    for (const fault of given.faults ?? []) this.#api.fail(fault);
  }

  /**
   * The monitor's record of a node is its last observed state. Where the cache differs, the monitor observed a response of
   * the API server that the watch has not delivered yet: an Unknown that it wrote, or a False in the response to a write.
   */
  #remember(name: string, health: unknown): void {
    const node = this.#cached.get(name);
    if (typeof health !== 'string') throw new NotSupported('timestamps of the monitor');
    if (node === undefined) return this.#rememberGone(name, health);
    const nowMs = this.#time.clock.monotonicMs();
    this.#health.observe(node, undefined, {
      monotonicMs: nowMs - 2 * this.#graceMs,
      wallMs: this.#time.nowMs - 2 * this.#graceMs,
    });
    if (health === readyOf(node)) return;
    const answer = { ...withReady(node, health), resourceVersion: `${node.resourceVersion}-answer` };
    this.#nodes.remember(node, answer);
    this.#health.observe(answer, undefined, { monotonicMs: nowMs, wallMs: this.#time.nowMs });
  }

  #rememberGone(name: string, health: string): void {
    const node = transformNode(nodeOf({ name, conditions: [{ type: 'Ready', status: health }] }, this.#time.nowMs));
    this.#health.observe(node, undefined, { monotonicMs: this.#time.clock.monotonicMs(), wallMs: this.#time.nowMs });
  }

  // --- operations ---

  #operations(): Readonly<Record<string, Operation>> {
    return {
      ...this.#workers.operations(),
      advance: ({ seconds }) => this.#time.advance(seconds as number),
      processPod: ({ namespace, name }) => this.#processPod(`${namespace as string}/${name as string}`),
      podEvent: (step) => this.#podEvent(step),
      markPodsNotReady: ({ node }) => {
        this.#marker.evaluateNode(node as string);
        return this.#marker.drain();
      },
      failNext: (step) => {
        this.#api.fail(faultOf(step));
      },
    };
  }

  /** A pod is queued, as a new one is. */
  async #processPod(key: string): Promise<void> {
    const object = this.#pods.get(key);
    if (object === undefined) throw new NotSupported(`pod not in the cache: ${key}`);
    this.#marker.onPod({ kind: 'added', key, object });
    await this.#marker.drain();
    await this.#lookForRetry();
  }

  async #podEvent({ old, new: now }: Step): Promise<void> {
    const before = old as GivenPod | null;
    const after = now as GivenPod | null;
    if (after === null) throw new NotSupported('deletion of a pod');
    const previous = before === null ? undefined : transformPod(podOf({ ...after, ...before }, this.#time));
    const known = this.#givenPod(after);
    const object = this.#putPod({ ...known, ...after });
    const attempts = this.#api.requests.length;
    if (previous === undefined) this.#marker.onPod({ kind: 'added', key: podKey(object), object });
    else this.#marker.onPod({ kind: 'modified', key: podKey(object), object, previous });
    await this.#marker.drain();
    this.#enqueued = this.#api.requests.length > attempts;
  }

  /** An event has only the ObjectReference of a pod. */
  #givenPod({ namespace = 'default', name = 'pod' }: GivenPod): GivenPod {
    const ready = this.#pods.get(`${namespace}/${name}`)?.ready;
    return ready === undefined ? {} : { ready };
  }

  /** Requeued keys are retried in time, others are not. */
  async #lookForRetry(): Promise<void> {
    const before = this.#api.requests.length;
    await this.#time.runAhead(retrySeconds * 1_000);
    await this.#marker.drain();
    this.#requeued = this.#api.requests.length > before;
  }

  #putPod(given: GivenPod): PodView {
    const pod = podOf(given, this.#time);
    this.#api.put('pods', pod);
    const view = transformPod(this.#api.pod(podKey(transformPod(pod)))!);
    this.#pods.set(podKey(view), view);
    return view;
  }

  // --- expectations ---

  #checks(): Readonly<Record<string, Check>> {
    return {
      ...this.#apiChecks.all(),
      ...eventChecks(() => this.#recorder.drafts),
      ...this.#workers.checks(),
      podEnqueued: equals(() => this.#enqueued),
      requeued: equals(() => this.#requeued),
      noCrash: equals(() => true),
      panic: equals(() => false),
    };
  }
}

function withReady(node: NodeView, status: string): NodeView {
  const conditions = node.conditions.map((condition) =>
    condition.type === 'Ready'
      ? {
          ...condition,
          status,
          ...(status === 'Unknown' ? { lastTransitionTime: 'now' } : { lastHeartbeatTime: 'before' }),
        }
      : condition,
  );
  return { ...node, conditions };
}
