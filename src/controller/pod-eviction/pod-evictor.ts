// The older mode: no taints, no tolerations. A node that is not Ready for longer than the pod eviction timeout gets in its
// zone's line; when its turn comes it is looked at once more, and then all its pods leave, and so does every pod that still
// arrives, until the node is Ready again.
import type { NodeView } from '../../api/node.ts';
import type { PodView } from '../../api/pod.ts';
import type { Change, StoreReader } from '../../informer/informer.ts';
import type { Meter, MetricDefinition } from '../../ports/meter.ts';
import type { DepartureReason } from '../decisions.ts';
import type { PodFate } from './decide-pod-fate.ts';
import { deletingAllPods } from './events.ts';
import { LeftoverTaints, type Settlement } from './leftover-taints.ts';
import { PodDeleter, type PodDeleterOptions } from './pod-deleter.ts';
import { WaitingNodes, type WaitingNodesOptions } from './waiting-nodes.ts';

export interface PodEvictorOptions extends WaitingNodesOptions, Omit<PodDeleterOptions, 'wanted' | 'pods'> {
  readonly pods: Pick<StoreReader<PodView>, 'get' | 'byIndex'>;
  /** Index of the pod store by node. */
  readonly podsByNode: string;
  readonly meter: Meter;
  /** Counts evicted nodes, by zone. */
  readonly evictionsTotal: MetricDefinition;
}

/** Upstream's `nodeEvictionMap`, as a question to what we keep anyway. */
export type EvictionMark = 'unmarked' | 'to-be-evicted' | 'evicted';

/** Sends the pods of nodes away that are not Ready for too long. Deletes in its own loop: `run`, or `drain`. */
export class PodEvictor {
  readonly #options: PodEvictorOptions;
  readonly #waiting: WaitingNodes;
  readonly #deleter: PodDeleter;
  readonly #leftovers: LeftoverTaints;
  /** Name and uid of nodes whose turn has come and that have not been Ready since. */
  readonly #evicted = new Map<string, string>();

  constructor(options: PodEvictorOptions) {
    this.#options = options;
    this.#waiting = new WaitingNodes(options);
    this.#leftovers = new LeftoverTaints(options);
    this.#deleter = new PodDeleter({ ...options, wanted: (pod) => this.#isWanted(pod) });
  }

  /** Deletes pods until the signal aborts; `pass` must be called beside it. */
  run(signal: AbortSignal): Promise<void> {
    return this.#deleter.run(signal);
  }

  /** Deletes what waits now; for whoever has no loop running. */
  drain(): Promise<void> {
    return this.#deleter.drain();
  }

  /**
   * Does what this node needs now: sets its deadline, puts it in its zone's line, or, if it is Ready, takes everything
   * back, taints of the other mode included. `unsettled`: that write is still wanted and must be tried again.
   */
  attend(node: NodeView, zone: string): Promise<Settlement> {
    const decision = this.#waiting.decide(node);
    if (decision.kind === 'cancel') return this.#release(node, 'node-ready');
    if (this.#isEvicted(node)) this.#sendLeaving(node);
    else if (decision.kind === 'wait') this.#waiting.schedule(node, decision.fromMs);
    else if (decision.kind === 'evict') this.#waiting.queue(node, zone, decision.unreadyMs);
    return Promise.resolve('settled');
  }

  /** Every zone is dark: the fault is probably ours, so what was planned or begun on account of silence is taken back. */
  pardon(node: NodeView): Promise<Settlement> {
    return this.#release(node, 'outage');
  }

  /** The node no longer exists. If it is in line its pods still leave when its turn comes (as upstream). */
  forget(name: string): void {
    this.#evicted.delete(name);
    this.#waiting.forget(name);
  }

  /** Who lands on an evicted node does not stay there: it has no turn to wait for. */
  onPod(change: Change<PodView>): void {
    if (change.kind === 'deleted') return this.#deleter.forget(change.object);
    if (change.kind === 'modified' && isSamePlace(change.previous, change.object)) return;
    const node = this.#options.nodes.get(change.object.nodeName);
    if (node !== undefined && this.#isEvicted(node)) this.#deleter.add(change.object, 'landed-on-evicted-node');
  }

  /** Puts nodes in line whose time is up, and serves each zone's line as far as its tokens go. */
  pass(): Promise<void> {
    if (!this.#options.isHeld()) this.#waiting.serve((name, zone) => this.#evict(name, zone));
    return Promise.resolve();
  }

  markOf(name: string): EvictionMark {
    if (this.#evicted.has(name)) return 'evicted';
    return this.#waiting.isInLine(name) ? 'to-be-evicted' : 'unmarked';
  }

  /** When this node will be due, on health's clock, if nothing is heard of it; undefined if it does not wait for that. */
  dueAtMs(name: string): number | undefined {
    return this.#waiting.dueAtMs(name);
  }

  /** Nodes that wait for the end of their time, in the order in which they will get in line. */
  notInLine(): readonly string[] {
    return this.#waiting.notInLine();
  }

  /** How many nodes have lost their pods and have not been Ready since. */
  get evictedCount(): number {
    return this.#evicted.size;
  }

  /** What becomes of this pod if its node is evicted. */
  fateOf(pod: PodView): PodFate {
    return this.#deleter.fateOf(pod);
  }

  /** Pods of an evicted node that were deleted, by us or others, and are still there. */
  remaining(name: string): readonly PodView[] {
    if (!this.#evicted.has(name)) return [];
    return this.#podsOf(name).filter((pod) => this.fateOf(pod).fate === 'terminating');
  }

  #release(node: NodeView, why: 'node-ready' | 'outage'): Promise<Settlement> {
    const wasWaiting = this.#waiting.withdraw(node.name);
    const wasEvicted = this.#evicted.delete(node.name);
    if (wasWaiting || wasEvicted) this.#waiting.noteWithdrawn(node.name, why);
    return this.#leftovers.remove(node, why);
  }

  /** A node that no longer exists is not counted; garbage collection would come for its pods too, but later. */
  #evict(name: string, zone: string): void {
    const { nodes, meter, evictionsTotal } = this.#options;
    const node = nodes.get(name);
    if (node === undefined) return this.#sendAll({ name }, zone, 'node-gone');
    this.#evicted.set(name, node.uid);
    meter.add(evictionsTotal, 1, { zone });
    this.#sendAll(node, zone, 'node-evicted');
  }

  #sendAll(node: { readonly name: string; readonly uid?: string }, zone: string, why: DepartureReason): void {
    const { recorder, decisions } = this.#options;
    const pods = this.#podsOf(node.name);
    if (pods.length > 0) recorder.record(deletingAllPods(node));
    const counts = { leaves: 0, spared: 0, terminating: 0 };
    for (const pod of pods) {
      counts[this.fateOf(pod).fate] += 1;
      this.#deleter.add(pod, why);
    }
    const { leaves: leaving, spared, terminating } = counts;
    decisions.note({ kind: 'node-evicted', node: node.name, zone, leaving, spared, terminating });
  }

  /** Whoever should be gone and is not known to be on its way, as after a pod lost its DaemonSet. */
  #sendLeaving({ name }: NodeView): void {
    for (const pod of this.#podsOf(name)) {
      if (this.fateOf(pod).fate === 'leaves') this.#deleter.add(pod, 'node-evicted');
    }
  }

  #isEvicted({ name, uid }: NodeView): boolean {
    return this.#evicted.get(name) === uid;
  }

  #isWanted({ nodeName }: PodView): boolean {
    const node = this.#options.nodes.get(nodeName);
    return node === undefined || (this.#isEvicted(node) && this.#options.readyOf(node) !== 'True');
  }

  #podsOf(node: string): readonly PodView[] {
    return this.#options.pods.byIndex(this.#options.podsByNode, node);
  }
}

/** The same pod on the same node: not one that landed just now. */
function isSamePlace(before: PodView, after: PodView): boolean {
  return before.uid === after.uid && before.nodeName === after.nodeName;
}
