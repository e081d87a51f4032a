import type { NodeView } from '../../machinery/api/node.ts';
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import { areComparable, isOlder } from '../../machinery/api/resource-version.ts';
import type { Change } from '../../machinery/informer/informer.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import { forget, park, type WorkOutcome, WorkQueue } from '../../machinery/queueing/work-queue.ts';
import { batchedResync } from '../../machinery/supervision/batched-resync.ts';
import { WorkLoop } from '../../machinery/supervision/work-loop.ts';
import { retryLater } from '../model/decide-next-step.ts';
import type { PodSource } from '../model/commands.ts';
import { evaluationFailed } from '../model/decisions.ts';
import { podNodeNotReady } from './events.ts';
import type { StageDependencies } from '../model/dependencies.ts';
import type { PodMarkingQueues } from './pod-marking-queues.ts';
import { podsByNode } from '../model/indexes.ts';

const writesAtOnceMax = 8;

/** Interval of checks for the end of a hold. */
const heldRecheckMs = 1_000;
/** Interval of checks for the next slot during a hold. */
const heldServeMs = 100;

/** Slots for silent nodes. */
type PodMarkingSlots = Pick<
  PodMarkingQueues,
  | 'admits'
  | 'enqueue'
  | 'dequeue'
  | 'isPaused'
  | 'isHeld'
  | 'isKnown'
  | 'isMarked'
  | 'isBeforeMark'
  | 'noteMarked'
  | 'forgetPod'
  | 'queuedNodes'
  | 'serve'
  | 'nextDueMs'
>;

interface PodMarkerOptions extends Omit<StageDependencies, 'nodes'> {
  readonly pods: PodSource;
  readonly stateOf: (node: string) => NodeMarkingState | undefined;
  readonly slots: PodMarkingSlots;
  readonly recorder: EventRecorder;
}

/** State of the pod's node. */
export interface NodeMarkingState {
  readonly ready: string;
  /** A heartbeat within the grace period, while it is Unknown: its kubelet is back and posts the status of its pods. */
  readonly hasRecentHeartbeat: boolean;
  /** The node is Unknown because its kubelet never posted a status. */
  readonly neverPosted: boolean;
  /** It reports Ready=False for longer than its policy waits until its pods are marked all the same. */
  readonly isNotReadyForLong: boolean;
}

/** Marks the pods of silent nodes not ready, so that Services stop sending them traffic. */
export class PodMarker {
  readonly #options: PodMarkerOptions;
  readonly #queue = new WorkQueue();
  readonly #loop: WorkLoop;
  /** Nodes found at the takeover; their pods are evaluated in batches. */
  readonly #resync: WorkLoop;
  /** Pods that were bound to their node while it was not ready, and wait to be marked. */
  readonly #newlyBound = new Set<string>();

  constructor(options: PodMarkerOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      queue: this.#queue,
      clock: options.clock,
      measured: { name: 'node_lifecycle_controller_pods', meter: options.meter },
      workersMax: writesAtOnceMax,
      handle: (key) => this.#reconcile(key),
      onFault: (key, error) => {
        options.decisions.note(evaluationFailed('marking of pods', key, error));
      },
    });
    this.#resync = this.#makeResyncLoop();
  }

  #makeResyncLoop(): WorkLoop {
    const { clock, decisions } = this.#options;
    return batchedResync({
      clock,
      resync: (node) => this.#evaluateNewOn(node),
      onFault: (node, error) => {
        decisions.note(evaluationFailed('marking of pods', node, error));
      },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#resync.run(signal), this.#loop.run(signal)]);
  }

  /** Grants slots and marks what waits now; for tests and tools without running loops. */
  async drain(): Promise<void> {
    await this.#resync.drain();
    this.serve();
    await this.#loop.drain();
  }

  /**
   * Takes over leadership: all pods count as new on their nodes. Only nodes that are not ready are evaluated, later:
   * all pods of a large cluster together would take longer than the lease renewal may wait.
   */
  takeOver(nodes: Iterable<string>): void {
    for (const node of nodes) {
      if (this.#mayWant(node)) this.#resync.add(node);
    }
  }

  /**
   * Grants slots to waiting nodes. To be called besides `run`. Returns the milliseconds until the next useful call,
   * Infinity where no node waits.
   */
  serve(): number {
    const { slots, clock } = this.#options;
    slots.serve(
      (node) => this.#podsOf(node).some((pod) => this.#isWanted(pod)),
      (node) => {
        this.evaluateNode(node);
      },
    );
    const dueInMs = Math.max(0, slots.nextDueMs() - clock.monotonicMs());
    return slots.isPaused() && dueInMs < Infinity ? Math.max(heldServeMs, dueInMs) : dueInMs;
  }

  /** Number of pods of the largest collection. */
  get size(): number {
    return Math.max(this.#queue.remembered, this.#newlyBound.size);
  }

  /** Nodes with remembered state. Each is to be checked periodically: see {@link check}. */
  queuedNodes(): Iterable<string> {
    return this.#options.slots.queuedNodes();
  }

  /**
   * Evaluates one node and its pods from current state, whatever events were missed: a silent node has its pods marked
   * or waits for a slot; the state of any other node, or of one that no longer exists, is dropped. Costs an evaluation
   * of each of its pods.
   */
  check(node: string): void {
    const state = this.#options.stateOf(node);
    const isSilent = state?.ready === 'Unknown' && !state.hasRecentHeartbeat;
    if (isSilent || state?.isNotReadyForLong === true) this.evaluateNode(node);
    else this.#options.slots.dequeue(node);
  }

  /** Evaluates the pods of nodes that report NotReady for long, until the node has a slot for it or waits for one. */
  reviewNotReady(nodes: Iterable<string>): void {
    const { stateOf, slots } = this.#options;
    for (const node of nodes)
      if (stateOf(node)?.isNotReadyForLong === true && !slots.isKnown(node)) this.evaluateNode(node);
  }

  /** The node is Unknown, or NotReady for long: its pods are to be evaluated. */
  evaluateNode(node: string): void {
    for (const pod of this.#podsOf(node)) this.#evaluate(pod);
  }

  /**
   * Evaluates a pod that is new on its node; one that becomes Ready again was reported by its kubelet, and is not
   * marked again in this silence.
   */
  onPod(change: Change<PodView>): void {
    if (change.kind === 'deleted') this.#forgetPod(change.object);
    else if (change.kind === 'added' || change.previous.nodeName !== change.object.nodeName)
      this.#evaluateNew(change.object);
    else if (this.#isUndone(change.previous, change.object)) this.#evaluateUndone(change.object);
  }

  /** A list that repeats a pod as it was shows a mark undone only at a version of before it: what its kubelet posted later stays. */
  #isUndone({ resourceVersion: before }: PodView, pod: PodView): boolean {
    if (before === pod.resourceVersion) return this.#options.slots.isBeforeMark(pod);
    return areComparable(before, pod.resourceVersion) && isOlder(pod.resourceVersion, before);
  }

  /** A restore of etcd may have undone its mark, which its version shows only until that passes the one of the mark. */
  #evaluateUndone(pod: PodView): void {
    this.#options.slots.forgetPod(pod);
    if (this.#mayWant(pod.nodeName)) this.#evaluate(pod);
  }

  #forgetPod(pod: PodView): void {
    this.#newlyBound.delete(podKey(pod));
    this.#queue.remove(podKey(pod));
    this.#options.slots.forgetPod(pod);
  }

  /** Pods may be observed before their node: they count as new on it when it appears. */
  onNode(change: Change<NodeView>): void {
    if (change.kind === 'added' && this.#mayWant(change.object.name)) this.#evaluateNewOn(change.object.name);
  }

  /** Pods of a node that is Ready or does not exist are not marked. */
  #mayWant(node: string): boolean {
    const state = this.#options.stateOf(node);
    return state !== undefined && state.ready !== 'True';
  }

  #evaluateNewOn(node: string): void {
    for (const pod of this.#podsOf(node)) this.#evaluateNew(pod);
  }

  #podsOf(node: string): readonly PodView[] {
    return this.#options.pods.byIndex(podsByNode, node);
  }

  #evaluateNew(pod: PodView): void {
    this.#newlyBound.add(podKey(pod));
    this.#evaluate(pod);
  }

  #evaluate(pod: PodView): void {
    if (!this.#isWanted(pod)) this.#newlyBound.delete(podKey(pod));
    else if (this.#hasSlot(pod)) this.#loop.add(podKey(pod));
    else this.#options.slots.enqueue(pod.nodeName);
  }

  /** The pods of a silent node wait until the node has its slot. A kubelet that posts its status itself needs none. */
  #hasSlot({ nodeName }: PodView): boolean {
    const { stateOf, slots } = this.#options;
    const state = stateOf(nodeName);
    const needsSlot = state?.ready === 'Unknown' || state?.isNotReadyForLong === true;
    return !needsSlot || slots.admits(nodeName);
  }

  #isWanted(pod: PodView): boolean {
    if (this.#options.slots.isMarked(pod)) return false;
    const bound = this.#newlyBound.has(podKey(pod)) ? 'newly' : 'before';
    return decideMarking(pod, this.#options.stateOf(pod.nodeName), bound);
  }

  async #reconcile(key: string): Promise<WorkOutcome> {
    const { pods, slots } = this.#options;
    const pod = pods.get(key);
    if (pod === undefined || !this.#isWanted(pod)) return this.#done(key);
    if (slots.isHeld(pod.nodeName)) return { next: 'requeue', afterMs: heldRecheckMs };
    if (this.#hasSlot(pod)) return this.#mark(pod);
    // It sent a heartbeat and became silent again since its slot. The next slot marks its pods again.
    slots.enqueue(pod.nodeName);
    return park;
  }

  async #mark(pod: PodView): Promise<WorkOutcome> {
    const { writer, recorder, decisions, clock } = this.#options;
    const key = podKey(pod);
    const stillWanted = (): boolean => this.#isStillWanted(pod);
    const outcome = await writer.carryOut({ kind: 'mark-pod-not-ready', pod, atMs: clock.nowMs() }, stillWanted);
    if (outcome.result === 'failed') return retryLater(outcome);
    if (outcome.result === 'unwanted' || outcome.result === 'held') return { next: 'requeue', afterMs: heldRecheckMs };
    if (outcome.result !== 'written') return this.#done(key);
    this.#options.slots.noteMarked(pod);
    recorder.record(podNodeNotReady(pod));
    decisions.note({ kind: 'pod-marked-not-ready', pod: key, node: pod.nodeName }, pod.uid);
    return this.#done(key);
  }

  /**
   * Whether the mark is still wanted, from current state: the same pod, its node silent without a heartbeat since its
   * slot, and no hold applies.
   */
  #isStillWanted({ namespace, name, uid }: PodView): boolean {
    const { pods, slots } = this.#options;
    const pod = pods.get(podKey({ namespace, name }));
    return pod?.uid === uid && this.#isWanted(pod) && this.#hasSlot(pod) && !slots.isHeld(pod.nodeName);
  }

  #done(key: string): WorkOutcome {
    this.#newlyBound.delete(key);
    return forget;
  }
}

/**
 * Whether a pod is to be marked NotReady: yes while its node is Unknown and no heartbeat came within its grace period.
 * A kubelet that reports Ready=False itself also reports its pods, unless its runtime is down: then they are marked where the policy
 * says so, and a kubelet that takes that back is right (upstream `MarkPodsNotReady` and `processPod`;
 * level-triggered, so that a restart in between loses nothing: decision 0007).
 */
export function decideMarking(pod: PodView, node: NodeMarkingState | undefined, bound: 'newly' | 'before'): boolean {
  if (node === undefined || pod.ready === undefined || pod.ready === 'False') return false;
  // A pod newly bound to a node with Ready=False was not reported by that kubelet yet.
  if (node.ready === 'False') return bound === 'newly' || node.isNotReadyForLong;
  if (node.ready !== 'Unknown' || node.hasRecentHeartbeat) return false;
  // A node without a status was never reported ready: its pods are left as they are.
  return bound === 'newly' || !node.neverPosted;
}
