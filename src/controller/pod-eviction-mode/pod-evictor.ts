// Eviction mode: no taints, no tolerations. A node that is not Ready for longer than the pod eviction timeout is added
// to its zone's queue; when it is served it is evaluated again, and then all its pods are deleted, and so is every pod
// bound to it later, until the node is Ready.
import type { NodeEvictor } from '../model/node-evictor.ts';
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { isHealthTaint, noExecuteTaints } from '../../machinery/api/taints.ts';
import { zoneLevels } from '../../machinery/api/zone.ts';
import type { Change, StoreReader } from '../../machinery/informer/informer.ts';
import type { Meter, MetricDefinition } from '../../machinery/ports/meter.ts';
import { backOffAtLeast, forget, type WorkOutcome } from '../../machinery/queueing/work-queue.ts';
import { nextAfterWrite } from '../model/decide-next-step.ts';
import type { NodeEvictionReason } from '../model/decisions.ts';
import type { LiveNode } from '../model/live-node.ts';
import type { RateWait, WaitingPod } from '../model/waiting-pods.ts';
import { PodDeleter, type PodDeleterOptions, type PodFate } from './pod-deleter.ts';
import { deletingAllPods } from './events.ts';
import { WaitingNodes, type WaitingNodesOptions } from './waiting-nodes.ts';
import type { EvictionMark } from '../model/node-state.ts';
import { podsByNode } from '../model/indexes.ts';

/** Interval of checks for the end of a pause. */
const heldRecheckMs = 100;
/** Interval of questions for the answer of a live read, and for what changes with the next one or with the cache. */
const liveRecheckMs = { answer: 50, other: 1_000 } as const;
/** The cache decides about a node that cannot be read for so long, counted again where no pod asked for the other time. */
const unreadableMsMax = 60_000;
const unaskedMsMax = 30_000;

interface PodEvictorOptions extends WaitingNodesOptions, Omit<PodDeleterOptions, 'wanted' | 'pods' | 'heldForMs'> {
  readonly pods: Pick<StoreReader<PodView>, 'get' | 'byIndex'>;
  readonly meter: Meter;
  /** Counts evicted nodes, by zone. */
  readonly evictionsTotal: MetricDefinition;
  /** A recent live read of the node; undefined while there is none, and then one is started. */
  readonly liveNode: (node: string) => LiveNode | undefined;
  /** All zones are fully disrupted. */
  readonly fullDisruption: () => boolean;
}

const none: ReadonlyMap<string, unknown> = new Map();

/** Deletes the pods of nodes that are not Ready for too long. Deletes in its own loop: `run`, or `drain`. */
export class PodEvictor implements NodeEvictor {
  readonly #options: PodEvictorOptions;
  readonly #waiting: WaitingNodes;
  readonly #deleter: PodDeleter;
  /** Evicted nodes that have not been Ready since, by name, as they were seen last. */
  readonly #evicted = new Map<string, NodeView>();
  /** Since when evicted nodes cannot be read, and when that was asked last, on the monotonic clock. */
  readonly #unreadable = new Map<string, { readonly sinceMs: number; readonly askedMs: number }>();

  constructor(options: PodEvictorOptions) {
    this.#options = options;
    this.#waiting = new WaitingNodes(options);
    this.#deleter = new PodDeleter({
      ...options,
      wanted: (pod) => this.#isWanted(pod),
      heldForMs: (pod) => this.#heldForMs(pod),
    });
  }

  /** Deletes pods until the signal aborts; `pass` must be called besides. */
  run(signal: AbortSignal): Promise<void> {
    return this.#deleter.run(signal);
  }

  /** Deletes what waits now; for tests and tools without running loops. */
  drain(): Promise<void> {
    return this.#deleter.drain();
  }

  /**
   * Reconciles this node: sets its deadline, adds it to its zone's queue, or, if it is Ready, reverts everything,
   * including taints of the other mode. The outcome says whether that write has to be retried.
   */
  reconcile(node: NodeView, zone: string): Promise<WorkOutcome> {
    const decision = this.#waiting.decide(node);
    if (decision.kind === 'cancel') return this.#release(node, 'node-ready');
    if (this.#isEvicted(node)) this.#goOn(node);
    else if (decision.kind === 'wait') this.#waiting.schedule(node, decision.fromMs);
    else if (decision.kind === 'evict') this.#waiting.queue(node, zone, decision.unreadyMs);
    return Promise.resolve(forget);
  }

  /**
   * All zones are fully disrupted, probably by a fault of the control plane or the network: reverts evictions for
   * silence.
   */
  revokeNoExecute(node: NodeView): Promise<WorkOutcome> {
    return this.#release(node, 'full-disruption');
  }

  /** No taint is written. */
  start(): undefined {
    return undefined;
  }

  beingTainted(): ReadonlyMap<string, unknown> {
    return none;
  }

  /** The node no longer exists. If it is queued, its pods are still deleted when it is served (as upstream). */
  forget(name: string): void {
    this.#evicted.delete(name);
    this.#unreadable.delete(name);
    this.#waiting.forget(name);
  }

  /** Nodes with remembered state. Each is to be checked periodically: see {@link check}. */
  queuedNodes(): Iterable<string> {
    return new Set([...this.#evicted.keys(), ...this.#waiting.notQueued()]);
  }

  /**
   * Drops the state of a node that no longer exists, or was created again under its name, whatever events were missed.
   * A queued node keeps its place, as in {@link forget}. All else follows from {@link reconcile}. Writes nothing.
   */
  check(name: string): void {
    const node = this.#options.nodes.get(name);
    if (node === undefined) this.forget(name);
    else if (!this.#isEvicted(node)) this.#evicted.delete(name);
  }

  /** A pod bound to an evicted node is deleted without waiting in the queue. */
  onPod(change: Change<PodView>): void {
    if (change.kind === 'deleted') return this.#deleter.forget(change.object);
    if (change.kind === 'modified' && isSamePlace(change.previous, change.object)) return;
    const node = this.#options.nodes.get(change.object.nodeName);
    if (node !== undefined && this.#isEvicted(node)) this.#deleter.add(change.object, 'landed-on-evicted-node');
  }

  /**
   * Queues nodes whose timeout has ended, and serves each zone's queue as far as its tokens allow. Returns the
   * milliseconds until the next useful call, Infinity where no node waits.
   */
  serve(): number {
    if (this.#options.holds.isHeldForAll('empty-node')) return this.#waiting.isIdle() ? Infinity : heldRecheckMs;
    this.#waiting.serve((name, zone) => this.#evict(name, zone));
    return this.#waiting.nextServeInMs();
  }

  /** Serves the queues once; pods are deleted in a separate loop. */
  pass(): Promise<void> {
    this.serve();
    return this.settled();
  }

  /** No work is in flight between two calls of {@link serve}. */
  settled(): Promise<void> {
    return Promise.resolve();
  }

  markOf(name: string): EvictionMark {
    if (this.#evicted.has(name)) return 'evicted';
    return this.#waiting.isQueued(name) ? 'to-be-evicted' : 'unmarked';
  }

  /**
   * Time at which a node is due without a further heartbeat, on the health clock; undefined if the node does not wait
   * for that.
   */
  dueAtMs(name: string): number | undefined {
    return this.#waiting.dueAtMs(name);
  }

  /** Nodes that wait for the end of their timeout, in the order in which they will be queued. */
  notQueued(): readonly string[] {
    return this.#waiting.notQueued();
  }

  /** Number of evicted nodes that have not been Ready since. */
  get evictedCount(): number {
    return this.#evicted.size;
  }

  /** What happens to this pod if its node is evicted. */
  fateOf(pod: PodView): PodFate {
    return this.#deleter.fateOf(pod);
  }

  /** Reason why a pod that is to be deleted waits; undefined: it does not. */
  waitOf(pod: PodView): { readonly rate: RateWait } | undefined {
    const rate = this.#deleter.rateWaitOf(pod);
    return rate && { rate };
  }

  /** Every pod that waits because of the policy of its node, for a gauge. */
  waits(): Iterable<WaitingPod> {
    return this.#deleter.waits();
  }

  /** Pods of an evicted node that are terminating. */
  remaining(name: string): readonly PodView[] {
    if (!this.#evicted.has(name)) return [];
    return this.#podsOf(name).filter((pod) => this.fateOf(pod).fate === 'terminating');
  }

  #release(node: NodeView, why: 'node-ready' | 'full-disruption'): Promise<WorkOutcome> {
    const wasWaiting = this.#waiting.withdraw(node.name);
    const wasEvicted = this.#evicted.delete(node.name);
    this.#unreadable.delete(node.name);
    if (wasWaiting || wasEvicted) this.#waiting.noteWithdrawn(node.name, why);
    return this.#removeTaints(node, why);
  }

  /**
   * Removes the other mode's NoExecute taints. A change of mode during an outage leaves them on the nodes, and no other
   * component would remove them from a healthy node.
   */
  async #removeTaints(node: NodeView, why: 'node-ready' | 'full-disruption'): Promise<WorkOutcome> {
    const { writer, decisions } = this.#options;
    const remove = noExecuteTaints(node.taints).filter(isHealthTaint);
    if (remove.length === 0) return forget;
    const command = { kind: 'change-taints', node, add: [], remove, lane: 'recovery' } as const;
    const outcome = await writer.carryOut(command, () => this.#isReleased(node, why));
    if (outcome.result === 'written') {
      const removed = remove.map(({ key, effect }) => `${key}:${effect}`);
      decisions.note({ kind: 'taints-changed', node: node.name, added: [], removed, why });
    }
    return nextAfterWrite(outcome, backOffAtLeast(undefined));
  }

  #isReleased({ name, uid }: NodeView, why: 'node-ready' | 'full-disruption'): boolean {
    const { nodes, readyOf, fullDisruption } = this.#options;
    if (why === 'full-disruption') return fullDisruption();
    const node = nodes.get(name);
    return node?.uid === uid && readyOf(node) === 'True';
  }

  /** A node that no longer exists is not counted; the pod garbage collector would delete its pods too, but later. */
  #evict(name: string, zone: string): void {
    const { nodes, meter, evictionsTotal } = this.#options;
    const node = nodes.get(name);
    if (node === undefined) return this.#sendAll({ name }, zone, 'node-gone');
    this.#evicted.set(name, node);
    for (const level of zoneLevels(zone)) meter.add(evictionsTotal, 1, { zone: level });
    this.#sendAll(node, zone, 'node-evicted');
  }

  #sendAll(node: { readonly name: string; readonly uid?: string }, zone: string, why: NodeEvictionReason): void {
    const { recorder, decisions } = this.#options;
    const pods = this.#podsOf(node.name);
    if (pods.length > 0) recorder.record(deletingAllPods(node));
    const counts = { deleted: 0, spared: 0, terminating: 0 };
    for (const pod of pods) {
      counts[this.fateOf(pod).fate] += 1;
      this.#deleter.add(pod, why);
    }
    const { deleted: leaving, spared, terminating } = counts;
    decisions.note({ kind: 'node-evicted', node: node.name, zone, leaving, spared, terminating });
  }

  /** Adds pods that should be deleted and have no task, for example after a pod lost its DaemonSet. */
  #goOn(node: NodeView): void {
    this.#evicted.set(node.name, node);
    for (const pod of this.#podsOf(node.name)) {
      if (this.fateOf(pod).fate === 'deleted') this.#deleter.add(pod, 'node-evicted');
    }
  }

  /** A node that reports NotReady from a later time on was Ready in between, and has its whole timeout again. */
  #isEvicted(node: NodeView): boolean {
    const evicted = this.#evicted.get(node.name);
    if (evicted?.uid !== node.uid) return false;
    const { readyOf } = this.#options;
    const failsAgain = [evicted, node].every((each) => readyOf(each) === 'False');
    return !failsAgain || changedAt(evicted) === changedAt(node);
  }

  #heldForMs({ nodeName, uid }: PodView): number {
    const { holds } = this.#options;
    const heldMs = holds.heldForMs(nodeName, 'empty-node') || holds.heldForMs(nodeName, 'delete-for-health', uid);
    return heldMs || this.#unconfirmedForMs(nodeName);
  }

  #isWanted({ nodeName }: PodView): boolean {
    const node = this.#options.nodes.get(nodeName);
    if (node === undefined) return typeof this.#options.liveNode(nodeName) !== 'object';
    return this.#isEvicted(node) && this.#options.readyOf(node) !== 'True';
  }

  /**
   * A node that is missing in the cache may have registered again, and one that is not Ready there may have recovered: no taint, whose write
   * would find a newer version, comes before its pods are deleted. Where nodes may not be read, the cache decides.
   */
  #unconfirmedForMs(name: string): number {
    const { nodes, liveNode, readyOf } = this.#options;
    const known = nodes.get(name);
    const live = liveNode(name);
    if (live === undefined) return liveRecheckMs.answer;
    if (live !== 'unreadable') this.#unreadable.delete(name);
    else if (known === undefined || this.#unreadableForMs(name) < unreadableMsMax) return liveRecheckMs.other;
    const isAnother = typeof live === 'object' && (live.uid !== known?.uid || readyOf(live) === 'True');
    return known !== undefined && isAnother ? liveRecheckMs.other : 0;
  }

  #unreadableForMs(name: string): number {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#unreadable.get(name);
    const sinceMs = known === undefined || nowMs - known.askedMs > unaskedMsMax ? nowMs : known.sinceMs;
    this.#unreadable.set(name, { sinceMs, askedMs: nowMs });
    return nowMs - sinceMs;
  }

  #podsOf(node: string): readonly PodView[] {
    return this.#options.pods.byIndex(podsByNode, node);
  }
}

function changedAt({ conditions }: NodeView): string | undefined {
  return findCondition(conditions, 'Ready')?.lastTransitionTime;
}

/** Whether two states are of one pod on one node: not a new binding. */
function isSamePlace(before: PodView, after: PodView): boolean {
  return before.uid === after.uid && before.nodeName === after.nodeName;
}
