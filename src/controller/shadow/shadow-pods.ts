// The pods as they would be if their lifecycle were ours alone: what ShadowNodes is for nodes. A pod that they have deleted
// and we have not stays here for a while as a ghost, so that it can be seen when we would have.
import type { NodeView } from '../../api/node.ts';
import type { ObjectKey } from '../../api/object-key.ts';
import { podKey, type PodView } from '../../api/pod.ts';
import { noExecuteTaints } from '../../api/taints.ts';
import type { Change, Informer, InformerStatus, Listener, StoreReader } from '../../informer/informer.ts';
import { Listeners, type ListenersOptions } from '../../informer/listeners.ts';
import { classifyDeparture } from './classify-departure.ts';
import { deriveOwnPod } from './derive-own-pod.ts';
import { isUnknown } from './derive-real-acts.ts';
import { decideOurs } from './decide-episode.ts';
import type { EpisodeLedger } from './episode-ledger.ts';
import type { Subject } from './episode.ts';
import type { NodeFollower } from './shadow-nodes.ts';
import { UnexplainedMarks } from './unexplained-marks.ts';

/** Pods that are gone and are kept in memory; of further ones nothing is said. */
const ghostsMax = 20_000;

export interface ShadowPodsOptions extends Omit<ListenersOptions, 'resource'> {
  readonly pods: Informer<PodView>;
  /** The index of the pod store by node. */
  readonly podsByNode: string;
  /** The node as it is, and as it would be. */
  readonly realNode: (name: string) => NodeView | undefined;
  readonly ownNode: (name: string) => NodeView | undefined;
  readonly ledger: EpisodeLedger;
  /** What this process does not do is not compared: it is as it is. */
  readonly comparesMarking: boolean;
  readonly comparesEviction: boolean;
}

/** Kept of pods only that are, for us, not as they are. */
interface PodRecord {
  readonly subject: Subject;
  world: PodView;
  own: PodView;
  readyBefore: string | undefined;
  /** `waits`: gone, and not for us. `leaves`: gone, and for us as well. */
  ghost: 'no' | 'waits' | 'leaves';
}

export class ShadowPods implements Informer<PodView>, StoreReader<PodView>, NodeFollower {
  readonly name: string;
  readonly store: StoreReader<PodView> = this;
  readonly #options: ShadowPodsOptions;
  readonly #listeners: Listeners<PodView>;
  readonly #records = new Map<ObjectKey, PodRecord>();
  readonly #byNode = new Map<string, Set<ObjectKey>>();
  readonly #unexplained = new UnexplainedMarks();
  #ghosts = 0;

  constructor(options: ShadowPodsOptions) {
    this.#options = options;
    this.name = options.pods.name;
    this.#listeners = new Listeners({ ...options, resource: `shadow-${this.name}` });
    options.pods.onChange('shadow', (change) => this.#hear(change));
  }

  // --- what we would do ---

  wishNotReady(pod: PodView): 'written' | 'gone' {
    return this.#wish(pod, 'not-ready');
  }

  wishEviction(pod: PodView): 'written' | 'gone' {
    return this.#wish(pod, 'eviction');
  }

  // --- what nodes do ---

  theyCalledUnknown(node: string): void {
    for (const { key, uid, readyBefore } of this.#unexplained.take(node, this.#nowMs())) {
      const pod = this.#options.pods.store.get(key);
      if (pod?.uid === uid && pod.ready === 'False') this.#refresh(key, this.#theyMarked(key, pod, pod, readyBefore));
    }
  }

  /** It would have said of its pods what it says now, marked or not. */
  spoke(node: string): void {
    for (const key of this.#byNode.get(node) ?? []) {
      const record = this.#records.get(key);
      if (record === undefined || this.#ours(record, 'not-ready') !== true) continue;
      this.#options.ledger.settle(record.subject.uid, 'not-ready');
      this.#refresh(key, record);
    }
  }

  // --- time ---

  /** Ends what cannot go on: evictions that nothing calls for any more, and ghosts that we have let go. */
  sweep(): void {
    this.#unexplained.forgetOld(this.#nowMs());
    for (const [key, record] of this.#records) {
      if (record.ghost === 'leaves') this.#remove(key, record);
      else if (this.#ours(record, 'eviction') !== undefined) this.#sweepEviction(key, record);
    }
  }

  /** Nobody waits any more for the other's act on this pod. */
  lookAgain({ uid, name: key }: Subject): void {
    const record = this.#records.get(key);
    if (record?.subject.uid === uid) this.#afterEviction(key, record);
  }

  // --- an informer ---

  get size(): number {
    return this.#options.pods.store.size + this.#ghosts;
  }

  get(key: ObjectKey): PodView | undefined {
    const world = this.#options.pods.store.get(key);
    const record = this.#records.get(key);
    if (record === undefined) return world;
    return record.ghost !== 'no' || world?.uid === record.subject.uid ? record.own : world;
  }

  *keys(): Iterable<ObjectKey> {
    yield* this.#options.pods.store.keys();
    for (const [key, { ghost }] of this.#records) if (ghost !== 'no') yield key;
  }

  *values(): Iterable<PodView> {
    for (const key of this.keys()) {
      const pod = this.get(key);
      if (pod !== undefined) yield pod;
    }
  }

  byIndex(index: string, value: string): readonly PodView[] {
    const found = this.#options.pods.store.byIndex(index, value);
    const keys = index === this.#options.podsByNode ? this.#byNode.get(value) : undefined;
    if (keys === undefined) return found;
    const ghosts = [...keys].map((key) => this.#records.get(key)).filter((record) => record?.ghost !== 'no');
    return [...found.map((pod) => this.get(podKey(pod)) ?? pod), ...ghosts.flatMap((ghost) => ghost?.own ?? [])];
  }

  onChange(name: string, listener: Listener<PodView>): () => void {
    return this.#listeners.join(name, listener, this.#everything());
  }

  hasSynced(): boolean {
    return this.#options.pods.hasSynced();
  }

  status(): InformerStatus {
    return this.#options.pods.status();
  }

  reopen(): void {
    this.#options.pods.reopen();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#options.pods.run(signal);
  }

  // --- what is so ---

  #hear(change: Change<PodView>): void {
    const { key } = change;
    const record = this.#records.get(key);
    if (change.kind === 'deleted') return this.#hearDeleted(key, change.object);
    if (change.kind === 'added') {
      if (record !== undefined) this.#loseGhost(key, record);
      return this.#listeners.announce([change]);
    }
    if (record !== undefined) record.world = change.object;
    this.#compare(key, change.object, change.previous);
    const after = this.#records.get(key);
    if (after !== undefined) return this.#refresh(key, after, { always: true });
    const previous = record?.own ?? change.previous;
    this.#listeners.announce([{ ...change, previous }]);
  }

  #compare(key: ObjectKey, now: PodView, before: PodView): void {
    if (now.ready === 'False' && before.ready !== 'False') this.#hearNotReady(key, now, before);
    if (now.ready !== 'False' && before.ready === 'False') this.#hearReady(key, now);
    if (now.terminating && !before.terminating) this.#hearDeparture(key, now, before);
  }

  /** A kubelet says so of its pods too. Of a silent node's nobody else can say it. */
  #hearNotReady(key: ObjectKey, now: PodView, before: PodView): void {
    if (!this.#options.comparesMarking) return;
    const node = this.#options.realNode(now.nodeName);
    const isExpected = this.#options.ledger.get(now.uid, 'not-ready') !== undefined;
    if (isExpected || (node !== undefined && isUnknown(node))) {
      this.#theyMarked(key, now, before, before.ready);
      return;
    }
    // Nodes and pods come by two streams: their word about the node may be on its way.
    this.#unexplained.add({ key, uid: now.uid, node: now.nodeName, readyBefore: before.ready, atMs: this.#nowMs() });
  }

  #theyMarked(key: ObjectKey, pod: PodView, shown: PodView, readyBefore: string | undefined): PodRecord {
    const record = this.#recordOf(key, pod, shown);
    record.readyBefore = readyBefore;
    this.#options.ledger.act(record.subject, 'not-ready', { party: 'them', value: true, standing: false });
    return record;
  }

  #hearReady(key: ObjectKey, { uid }: PodView): void {
    this.#unexplained.forget(key);
    this.#options.ledger.settle(uid, 'not-ready');
  }

  #hearDeparture(key: ObjectKey, pod: PodView, before: PodView): void {
    if (!this.#options.comparesEviction) return;
    const { ledger, clock, realNode } = this.#options;
    const taints = realNode(pod.nodeName)?.taints ?? [];
    const departure = classifyDeparture(pod, taints, clock.nowMs());
    if (departure === 'by-others') return ledger.discard(pod.uid, 'eviction');
    const record = this.#recordOf(key, pod, before);
    ledger.act(record.subject, 'eviction', { party: 'them', value: true, standing: false });
  }

  #hearDeleted(key: ObjectKey, pod: PodView): void {
    if (!pod.terminating) this.#hearDeparture(key, { ...pod, terminating: true }, pod);
    this.#unexplained.forget(key);
    const record = this.#records.get(key);
    const isKept = record !== undefined && this.#ours(record, 'eviction') === false && this.#ghosts < ghostsMax;
    if (isKept) return this.#keepGhost(key, record);
    this.#options.ledger.forget(pod.uid);
    this.#drop(key);
    this.#listeners.announce([{ kind: 'deleted', key, object: record?.own ?? pod }]);
  }

  #keepGhost(key: ObjectKey, record: PodRecord): void {
    record.ghost = 'waits';
    this.#ghosts += 1;
    this.#refresh(key, record);
  }

  /** A namesake came: nothing can be said of what it replaced. */
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
      const wasOurs = this.#ours(record, 'eviction');
      ledger.settle(uid, 'eviction');
      if (wasOurs === true) return this.#bringBack(key, record);
    } else return;
    this.#afterEviction(key, record);
  }

  /** Only for them it is gone by now, or for everybody. */
  #afterEviction(key: ObjectKey, record: PodRecord): void {
    if (record.ghost !== 'no' && this.#ours(record, 'eviction') === undefined) return this.#remove(key, record);
    this.#refresh(key, record);
  }

  /** For us it went, and they let it stay: to us another one of its name has come. */
  #bringBack(key: ObjectKey, record: PodRecord): void {
    this.#options.ledger.discard(record.subject.uid, 'eviction');
    this.#listeners.announce([{ kind: 'deleted', key, object: record.own }]);
    record.own = this.#derive(record);
    if (!this.#differs(record)) this.#drop(key);
    this.#listeners.announce([{ kind: 'added', key, object: record.own }]);
  }

  #wish(pod: PodView, matter: 'not-ready' | 'eviction'): 'written' | 'gone' {
    const key = podKey(pod);
    const world = this.#records.get(key)?.world ?? this.#options.pods.store.get(key);
    if (world?.uid !== pod.uid) return 'gone';
    const record = this.#recordOf(key, world, world);
    const standing = matter === 'eviction' ? world.terminating : world.ready === 'False';
    this.#options.ledger.act(record.subject, matter, { party: 'us', value: true, standing });
    if (matter === 'eviction' && record.ghost === 'waits') record.ghost = 'leaves';
    this.#refresh(key, record);
    return 'written';
  }

  /** `shown`: what has been told of it so far. */
  #recordOf(key: ObjectKey, pod: PodView, shown: PodView): PodRecord {
    const known = this.#records.get(key);
    if (known?.subject.uid === pod.uid) {
      known.world = pod;
      return known;
    }
    const subject: Subject = { kind: 'pod', name: key, uid: pod.uid, node: pod.nodeName };
    const record: PodRecord = { subject, world: pod, own: shown, readyBefore: undefined, ghost: 'no' };
    this.#records.set(key, record);
    const siblings = this.#byNode.get(pod.nodeName) ?? new Set<ObjectKey>();
    this.#byNode.set(pod.nodeName, siblings.add(key));
    return record;
  }

  /** Undefined: it is for us what it is. */
  #ours({ subject }: PodRecord, matter: 'not-ready' | 'eviction'): boolean | undefined {
    return decideOurs(this.#options.ledger.get(subject.uid, matter));
  }

  #differs(record: PodRecord): boolean {
    return this.#ours(record, 'not-ready') !== undefined || this.#ours(record, 'eviction') !== undefined;
  }

  #derive(record: PodRecord): PodView {
    const { world, readyBefore, ghost } = record;
    const evicted = ghost === 'leaves' ? true : this.#ours(record, 'eviction');
    return deriveOwnPod(world, { notReady: this.#ours(record, 'not-ready'), evicted, readyBefore });
  }

  #refresh(key: ObjectKey, record: PodRecord, { always = false } = {}): void {
    const previous = record.own;
    record.own = this.#derive(record);
    if (record.ghost === 'no' && !this.#differs(record)) this.#drop(key);
    if (!always && isSame(record.own, previous)) return;
    this.#listeners.announce([{ kind: 'modified', key, object: record.own, previous }]);
  }

  /** For everybody it is gone. */
  #remove(key: ObjectKey, record: PodRecord): void {
    this.#options.ledger.forget(record.subject.uid);
    this.#drop(key);
    this.#listeners.announce([{ kind: 'deleted', key, object: record.own }]);
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

  *#everything(): Iterable<Change<PodView>> {
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
