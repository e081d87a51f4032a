// The pods as if only the shadow managed their lifecycle: the counterpart of ShadowNodes. A pod that the cluster
// deleted and the shadow did not is kept for a while as a ghost, to detect when the shadow would have deleted it.
import type { NodeView } from '../../machinery/api/node.ts';
import type { ObjectKey } from '../../machinery/api/object-key.ts';
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import { noExecuteTaints } from '../../machinery/api/taints.ts';
import type { Change, Informer } from '../../machinery/informer/informer.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import { classifyDeletion } from './classify-deletion.ts';
import { buildOwnPod } from './build-own-objects.ts';
import { isUnknown } from './classify-real-acts.ts';
import { decideShadowValue } from './decide-episode.ts';
import { ShadowInformer } from './shadow-informer.ts';
import type { EpisodeLedger } from './episode-ledger.ts';
import type { EpisodeSubject } from './episode.ts';
import type { NodeFollower } from './shadow-nodes.ts';
import { UnexplainedMarks } from './unexplained-marks.ts';
import { podsByNode } from '../model/indexes.ts';

/** Maximum number of deleted pods kept in memory; further ones are not compared. */
const ghostsMax = 20_000;

interface ShadowPodsOptions extends Ambient {
  readonly pods: Informer<PodView>;
  /** The real node, and the node as the shadow sees it. */
  readonly realNode: (name: string) => NodeView | undefined;
  readonly ownNode: (name: string) => NodeView | undefined;
  readonly ledger: EpisodeLedger;
  /** Actions that this process does not take are not compared. */
  readonly comparesMarking: boolean;
  readonly comparesEviction: boolean;
}

/** State of pods that differ for the shadow. */
interface PodRecord {
  readonly subject: EpisodeSubject;
  world: PodView;
  own: PodView;
  readyBefore: string | undefined;
  /** `waits`: deleted in the cluster only. `deleted`: for the shadow too. */
  ghost: 'no' | 'waits' | 'deleted';
}

export class ShadowPods extends ShadowInformer<PodView> implements NodeFollower {
  readonly #options: ShadowPodsOptions;
  readonly #records = new Map<ObjectKey, PodRecord>();
  readonly #byNode = new Map<string, Set<ObjectKey>>();
  readonly #unexplained = new UnexplainedMarks();
  #ghosts = 0;

  constructor(options: ShadowPodsOptions) {
    super(options.pods, options);
    this.#options = options;
    options.pods.onChange('shadow', (change) => this.#onChange(change));
  }

  // --- decisions of the shadow ---

  applyNotReady(pod: PodView): 'written' | 'gone' {
    return this.#apply(pod, 'not-ready');
  }

  applyEviction(pod: PodView): 'written' | 'gone' {
    return this.#apply(pod, 'eviction');
  }

  // --- changes of nodes ---

  clusterMarkedUnknown(node: string): void {
    for (const { key, uid, readyBefore } of this.#unexplained.take(node, this.#nowMs())) {
      const pod = this.#options.pods.store.get(key);
      if (pod?.uid === uid && pod.ready === 'False')
        this.#refresh(key, this.#clusterMarked(key, pod, pod, readyBefore));
    }
  }

  /** Notes that the kubelet of a node would have reported the pods as it does now, marked or not. */
  kubeletPosted(node: string): void {
    for (const key of this.#byNode.get(node) ?? []) {
      const record = this.#records.get(key);
      if (record === undefined || this.#shadowValue(record, 'not-ready') !== true) continue;
      this.#options.ledger.settle(record.subject.uid, 'not-ready');
      this.#refresh(key, record);
    }
  }

  // --- periodic checks ---

  /** Ends evictions without a cause, and removes ghosts that the shadow has deleted. */
  sweep(): void {
    this.#unexplained.forgetOld(this.#nowMs());
    for (const [key, record] of this.#records) {
      if (record.ghost === 'deleted') this.#remove(key, record);
      else if (this.#shadowValue(record, 'eviction') !== undefined) this.#sweepEviction(key, record);
    }
  }

  /** The maximum wait for the other side's action on this pod has been reached. */
  refresh({ uid, name: key }: EpisodeSubject): void {
    const record = this.#records.get(key);
    if (record?.subject.uid === uid) this.#afterEviction(key, record);
  }

  // --- Informer ---

  override get size(): number {
    return this.#options.pods.store.size + this.#ghosts;
  }

  override get(key: ObjectKey): PodView | undefined {
    const world = this.#options.pods.store.get(key);
    const record = this.#records.get(key);
    if (record === undefined) return world;
    return record.ghost !== 'no' || world?.uid === record.subject.uid ? record.own : world;
  }

  override *keys(): Iterable<ObjectKey> {
    yield* this.#options.pods.store.keys();
    for (const [key, { ghost }] of this.#records) if (ghost !== 'no') yield key;
  }

  override byIndex(index: string, value: string): readonly PodView[] {
    const found = this.#options.pods.store.byIndex(index, value);
    const keys = index === podsByNode ? this.#byNode.get(value) : undefined;
    if (keys === undefined) return found;
    const ghosts = [...keys].map((key) => this.#records.get(key)).filter((record) => record?.ghost !== 'no');
    return [...found.map((pod) => this.get(podKey(pod)) ?? pod), ...ghosts.flatMap((ghost) => ghost?.own ?? [])];
  }

  // --- changes of the cluster ---

  #onChange(change: Change<PodView>): void {
    const { key } = change;
    const record = this.#records.get(key);
    if (change.kind === 'deleted') return this.#onDeleted(key, change.object);
    if (change.kind === 'added') {
      if (record !== undefined) this.#loseGhost(key, record);
      return this.listeners.deliver([change]);
    }
    if (record !== undefined) record.world = change.object;
    this.#compare(key, change.object, change.previous);
    const after = this.#records.get(key);
    if (after !== undefined) return this.#refresh(key, after, { always: true });
    const previous = record?.own ?? change.previous;
    this.listeners.deliver([{ ...change, previous }]);
  }

  #compare(key: ObjectKey, now: PodView, before: PodView): void {
    if (now.ready === 'False' && before.ready !== 'False') this.#onNotReady(key, now, before);
    if (now.ready !== 'False' && before.ready === 'False') this.#onReady(key, now);
    if (now.terminating && !before.terminating) this.#onDeletion(key, now, before);
  }

  /** A kubelet may report its pods not ready. For pods of a silent node only the cluster's controller does. */
  #onNotReady(key: ObjectKey, now: PodView, before: PodView): void {
    if (!this.#options.comparesMarking) return;
    const node = this.#options.realNode(now.nodeName);
    const isExpected = this.#options.ledger.get(now.uid, 'not-ready') !== undefined;
    if (isExpected || (node !== undefined && isUnknown(node))) {
      this.#clusterMarked(key, now, before, before.ready);
      return;
    }
    // Nodes and pods arrive by two watches: the change of the node may arrive later.
    this.#unexplained.add({ key, uid: now.uid, node: now.nodeName, readyBefore: before.ready, atMs: this.#nowMs() });
  }

  #clusterMarked(key: ObjectKey, pod: PodView, shown: PodView, readyBefore: string | undefined): PodRecord {
    const record = this.#recordOf(key, pod, shown);
    record.readyBefore = readyBefore;
    this.#options.ledger.act(record.subject, 'not-ready', { party: 'cluster', value: true, standing: false });
    return record;
  }

  #onReady(key: ObjectKey, { uid }: PodView): void {
    this.#unexplained.forget(key);
    this.#options.ledger.settle(uid, 'not-ready');
  }

  #onDeletion(key: ObjectKey, pod: PodView, before: PodView): void {
    if (!this.#options.comparesEviction) return;
    const { ledger, clock, realNode } = this.#options;
    const taints = realNode(pod.nodeName)?.taints ?? [];
    const cause = classifyDeletion(pod, taints, clock.nowMs());
    if (cause === 'by-others') return ledger.discard(pod.uid, 'eviction');
    const record = this.#recordOf(key, pod, before);
    ledger.act(record.subject, 'eviction', { party: 'cluster', value: true, standing: false });
  }

  #onDeleted(key: ObjectKey, pod: PodView): void {
    if (!pod.terminating) this.#onDeletion(key, { ...pod, terminating: true }, pod);
    this.#unexplained.forget(key);
    const record = this.#records.get(key);
    const isKept = record !== undefined && this.#shadowValue(record, 'eviction') === false && this.#ghosts < ghostsMax;
    if (isKept) return this.#keepGhost(key, record);
    this.#options.ledger.forget(pod.uid);
    this.#drop(key);
    this.listeners.deliver([{ kind: 'deleted', key, object: record?.own ?? pod }]);
  }

  #keepGhost(key: ObjectKey, record: PodRecord): void {
    record.ghost = 'waits';
    this.#ghosts += 1;
    this.#refresh(key, record);
  }

  /** A pod of the same name was created: no outcome can be assigned to the ghost. */
  #loseGhost(key: ObjectKey, record: PodRecord): void {
    this.#options.ledger.forget(record.subject.uid);
    this.#remove(key, record);
  }

  #sweepEviction(key: ObjectKey, record: PodRecord): void {
    const { realNode, ownNode, ledger } = this.#options;
    const { uid, node } = record.subject;
    const [real, own] = [realNode(node), ownNode(node)];
    if (real === undefined) ledger.discard(uid, 'eviction');
    else if (!sendsAway(real) && (own === undefined || !sendsAway(own))) {
      const wasShadow = this.#shadowValue(record, 'eviction');
      ledger.settle(uid, 'eviction');
      if (wasShadow === true) return this.#bringBack(key, record);
    } else return;
    this.#afterEviction(key, record);
  }

  /** The eviction of a pod has ended: it is deleted in the cluster only, or for both sides. */
  #afterEviction(key: ObjectKey, record: PodRecord): void {
    if (record.ghost !== 'no' && this.#shadowValue(record, 'eviction') === undefined) return this.#remove(key, record);
    this.#refresh(key, record);
  }

  /** The shadow deleted it, the cluster kept it: for the shadow it counts as a new pod of the same name. */
  #bringBack(key: ObjectKey, record: PodRecord): void {
    this.#options.ledger.discard(record.subject.uid, 'eviction');
    this.listeners.deliver([{ kind: 'deleted', key, object: record.own }]);
    record.own = this.#build(record);
    if (!this.#differs(record)) this.#drop(key);
    this.listeners.deliver([{ kind: 'added', key, object: record.own }]);
  }

  #apply(pod: PodView, matter: 'not-ready' | 'eviction'): 'written' | 'gone' {
    const key = podKey(pod);
    const world = this.#records.get(key)?.world ?? this.#options.pods.store.get(key);
    if (world?.uid !== pod.uid) return 'gone';
    const record = this.#recordOf(key, world, world);
    const standing = matter === 'eviction' ? world.terminating : world.ready === 'False';
    this.#options.ledger.act(record.subject, matter, { party: 'shadow', value: true, standing });
    if (matter === 'eviction' && record.ghost === 'waits') record.ghost = 'deleted';
    this.#refresh(key, record);
    return 'written';
  }

  /** `shown`: the pod as last announced. */
  #recordOf(key: ObjectKey, pod: PodView, shown: PodView): PodRecord {
    const known = this.#records.get(key);
    if (known?.subject.uid === pod.uid) {
      known.world = pod;
      return known;
    }
    const subject: EpisodeSubject = { kind: 'pod', name: key, uid: pod.uid, node: pod.nodeName };
    const record: PodRecord = { subject, world: pod, own: shown, readyBefore: undefined, ghost: 'no' };
    this.#records.set(key, record);
    const siblings = this.#byNode.get(pod.nodeName) ?? new Set<ObjectKey>();
    this.#byNode.set(pod.nodeName, siblings.add(key));
    return record;
  }

  /** Undefined: the same for the shadow as in the cluster. */
  #shadowValue({ subject }: PodRecord, matter: 'not-ready' | 'eviction'): boolean | undefined {
    return decideShadowValue(this.#options.ledger.get(subject.uid, matter));
  }

  #differs(record: PodRecord): boolean {
    return this.#shadowValue(record, 'not-ready') !== undefined || this.#shadowValue(record, 'eviction') !== undefined;
  }

  #build(record: PodRecord): PodView {
    const { world, readyBefore, ghost } = record;
    const evicted = ghost === 'deleted' ? true : this.#shadowValue(record, 'eviction');
    return buildOwnPod(world, { notReady: this.#shadowValue(record, 'not-ready'), evicted, readyBefore });
  }

  #refresh(key: ObjectKey, record: PodRecord, { always = false } = {}): void {
    const previous = record.own;
    record.own = this.#build(record);
    if (record.ghost === 'no' && !this.#differs(record)) this.#drop(key);
    if (!always && isSame(record.own, previous)) return;
    this.listeners.deliver([{ kind: 'modified', key, object: record.own, previous }]);
  }

  /** Removes the record of a pod that is deleted for both sides. */
  #remove(key: ObjectKey, record: PodRecord): void {
    this.#options.ledger.forget(record.subject.uid);
    this.#drop(key);
    this.listeners.deliver([{ kind: 'deleted', key, object: record.own }]);
  }

  #drop(key: ObjectKey): void {
    const record = this.#records.get(key);
    if (record === undefined) return;
    if (record.ghost !== 'no') this.#ghosts -= 1;
    this.#records.delete(key);
    const siblings = this.#byNode.get(record.subject.node);
    siblings?.delete(key);
    if (siblings?.size === 0) this.#byNode.delete(record.subject.node);
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  protected override *everything(): Iterable<Change<PodView>> {
    for (const key of this.keys()) {
      const object = this.get(key);
      if (object !== undefined) yield { kind: 'added', key, object };
    }
  }
}

function sendsAway({ taints }: NodeView): boolean {
  return noExecuteTaints(taints).length > 0;
}

function isSame(a: PodView, b: PodView): boolean {
  return a === b || (a.ready === b.ready && a.terminating === b.terminating && a.resourceVersion === b.resourceVersion);
}
