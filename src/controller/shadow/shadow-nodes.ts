// The nodes as they would be if their lifecycle were ours alone. An informer like the one behind it, so that whoever
// decides by it needs not know: what we would have done shows here at once, and what they do shows when we would do it too.
import type { Condition } from '../../api/conditions.ts';
import type { LeaseView } from '../../api/lease.ts';
import type { NodeView } from '../../api/node.ts';
import { objectKey } from '../../api/object-key.ts';
import { nodeLeaseNamespace } from '../../api/resources.ts';
import { hasTaint, type Taint } from '../../api/taints.ts';
import type { Labels } from '../../api/topology.ts';
import type { Change, Informer, InformerStatus, Listener, StoreReader } from '../../informer/informer.ts';
import { Listeners, type ListenersOptions } from '../../informer/listeners.ts';
import type { Command } from '../commands.ts';
import { classifyTaint } from './classify-taint.ts';
import { deriveOwnNode } from './derive-own-node.ts';
import { deriveTaintActs, hasSpoken, isUnknown } from './derive-real-acts.ts';
import type { EpisodeLedger } from './episode-ledger.ts';
import type { Party, Subject, TaintMatter } from './episode.ts';

export interface ShadowNodesOptions extends Omit<ListenersOptions, 'resource'> {
  readonly nodes: Informer<NodeView>;
  readonly leases: Informer<LeaseView>;
  readonly ledger: EpisodeLedger;
  /** False: this process judges no nodes, so that they are as they are. */
  readonly compares: boolean;
}

/** Who wants to know what nodes do. */
export interface NodeFollower {
  /** They called it Unknown. */
  theyCalledUnknown(node: string): void;
  /** It gave a sign of life after it was called Unknown by either. */
  spoke(node: string): void;
}

interface NodeRecord {
  readonly subject: Subject;
  world: NodeView;
  own: NodeView;
  spoken: readonly Condition[];
  wished: readonly Condition[];
  /** Of its lease when we called it Unknown. */
  renewTime: string | undefined;
  /** Taints that are there for us, as they were when we wished or knew them. */
  readonly stamped: Map<TaintMatter, Taint>;
  labels: Labels;
}

export class ShadowNodes implements Informer<NodeView>, StoreReader<NodeView> {
  readonly name: string;
  readonly store: StoreReader<NodeView> = this;
  readonly #options: ShadowNodesOptions;
  readonly #listeners: Listeners<NodeView>;
  readonly #records = new Map<string, NodeRecord>();
  #follower: NodeFollower | undefined;

  constructor(options: ShadowNodesOptions) {
    this.#options = options;
    this.name = options.nodes.name;
    this.#listeners = new Listeners({ ...options, resource: `shadow-${this.name}` });
    options.nodes.onChange('shadow', (change) => this.#hear(change));
    options.leases.onChange('shadow', (change) => this.#hearLease(change));
  }

  follow(follower: NodeFollower): void {
    this.#follower = follower;
  }

  /** As it is; undefined where there is none. */
  real(name: string): NodeView | undefined {
    return this.#options.nodes.store.get(name);
  }

  // --- what we would do ---

  /** `gone`: not the node that was decided upon. */
  wishUnknown({ node, conditions }: Extract<Command, { kind: 'set-node-conditions' }>): 'written' | 'gone' {
    const record = this.#recordOf(node);
    if (record === undefined) return 'gone';
    record.wished = conditions;
    record.renewTime = this.#renewTimeOf(node.name);
    this.#act(record, 'unknown', 'us', true);
    this.#refresh(record);
    return 'written';
  }

  wishTaints({ node, add, remove }: Extract<Command, { kind: 'change-taints' }>): 'written' | 'gone' {
    const record = this.#recordOf(node);
    if (record === undefined) return 'gone';
    for (const taint of add) this.#wishTaint(record, taint, true);
    for (const taint of remove) this.#wishTaint(record, taint, false);
    this.#refresh(record);
    return 'written';
  }

  /** Taken as done, and not compared. */
  wishLabels({ node, labels }: Extract<Command, { kind: 'set-node-labels' }>): 'written' | 'gone' {
    const record = this.#recordOf(node);
    if (record === undefined) return 'gone';
    record.labels = { ...record.labels, ...labels };
    this.#refresh(record);
    return 'written';
  }

  /** Its episodes have changed without anybody's act. */
  lookAgain(name: string): void {
    const record = this.#records.get(name);
    if (record !== undefined) this.#refresh(record);
  }

  // --- an informer ---

  get size(): number {
    return this.#options.nodes.store.size;
  }

  get(name: string): NodeView | undefined {
    const world = this.#options.nodes.store.get(name);
    const record = this.#records.get(name);
    // What is in the store and was not told yet is told in a moment.
    return world !== undefined && record?.subject.uid === world.uid ? record.own : world;
  }

  keys(): Iterable<string> {
    return this.#options.nodes.store.keys();
  }

  *values(): Iterable<NodeView> {
    for (const name of this.keys()) {
      const node = this.get(name);
      if (node !== undefined) yield node;
    }
  }

  byIndex(index: string, value: string): readonly NodeView[] {
    return this.#options.nodes.store.byIndex(index, value).map((node) => this.get(node.name) ?? node);
  }

  onChange(name: string, listener: Listener<NodeView>): () => void {
    return this.#listeners.join(name, listener, this.#everything());
  }

  hasSynced(): boolean {
    return this.#options.nodes.hasSynced();
  }

  status(): InformerStatus {
    return this.#options.nodes.status();
  }

  reopen(): void {
    this.#options.nodes.reopen();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#options.nodes.run(signal);
  }

  // --- what is so ---

  #hear(change: Change<NodeView>): void {
    const { name } = change.object;
    const record = this.#records.get(name);
    if (change.kind === 'deleted') return this.#forget(change, record);
    if (record === undefined || record.subject.uid !== change.object.uid) return this.#meet(change.object);
    const before = record.world;
    record.world = change.object;
    if (this.#options.compares) this.#compare(record, before);
    this.#refresh(record, { always: true });
  }

  #meet(world: NodeView): void {
    const { name, uid } = world;
    this.#records.set(name, {
      subject: { kind: 'node', name, uid, node: name },
      world,
      own: world,
      spoken: [],
      wished: [],
      renewTime: undefined,
      stamped: new Map(),
      labels: {},
    });
    this.#listeners.announce([{ kind: 'added', key: name, object: world }]);
  }

  #forget(change: Change<NodeView>, record: NodeRecord | undefined): void {
    const { name, uid } = change.object;
    this.#options.ledger.forget(uid);
    this.#records.delete(name);
    this.#listeners.announce([{ kind: 'deleted', key: name, object: record?.own ?? change.object }]);
  }

  #compare(record: NodeRecord, before: NodeView): void {
    const { world } = record;
    if (isUnknown(world) && !isUnknown(before)) {
      record.spoken = before.conditions;
      this.#act(record, 'unknown', 'them', true);
      this.#follower?.theyCalledUnknown(world.name);
    } else if (hasSpoken(before, world)) this.#hearSpeak(record);
    for (const { matter, value } of deriveTaintActs(before, world)) {
      if (!value) this.#keepTaint(record, matter, before);
      this.#act(record, matter, 'them', value);
    }
  }

  /** What they take away is there for us until we would take it away too. */
  #keepTaint({ stamped }: NodeRecord, matter: TaintMatter, { taints }: NodeView): void {
    const taint = taints.find((candidate) => classifyTaint(candidate) === matter);
    if (taint !== undefined && !stamped.has(matter)) stamped.set(matter, taint);
  }

  #hearSpeak({ subject, world }: NodeRecord): void {
    this.#options.ledger.settle(subject.uid, 'unknown');
    this.#follower?.spoke(world.name);
  }

  /** A kubelet that is back would post its status upon our Unknown; it does not know of it, but renews its lease. */
  #hearLease(change: Change<LeaseView>): void {
    const record = this.#records.get(change.object.name);
    if (change.kind === 'deleted' || record === undefined) return;
    if (this.#unknownSide(record) !== 'wished' || change.object.renewTime === record.renewTime) return;
    this.#hearSpeak(record);
    this.#refresh(record);
  }

  #renewTimeOf(node: string): string | undefined {
    return this.#options.leases.store.get(objectKey(nodeLeaseNamespace, node))?.renewTime;
  }

  #recordOf({ name, uid }: NodeView): NodeRecord | undefined {
    const record = this.#records.get(name);
    return record?.subject.uid === uid && this.real(name)?.uid === uid ? record : undefined;
  }

  #wishTaint(record: NodeRecord, taint: Taint, value: boolean): void {
    const matter = classifyTaint(taint);
    if (matter === undefined) return;
    if (value) record.stamped.set(matter, taint);
    this.#act(record, matter, 'us', value);
  }

  /** What they do is in the world already: before it the world was the other way round for both. */
  #act({ subject, world }: NodeRecord, matter: TaintMatter | 'unknown', party: Party, value: boolean): void {
    const standing = party === 'them' ? !value : isSo(world, matter);
    this.#options.ledger.act(subject, matter, { party, value, standing });
  }

  #unknownSide({ subject }: NodeRecord): 'as-it-is' | 'wished' | 'undone' {
    const episode = this.#options.ledger.get(subject.uid, 'unknown');
    if (episode === undefined) return 'as-it-is';
    return episode.by === 'us' ? 'wished' : 'undone';
  }

  #refresh(record: NodeRecord, { always = false } = {}): void {
    const { subject, world, own: previous, stamped } = record;
    const isOurs = (matter: TaintMatter, isThere: boolean): boolean =>
      this.#options.ledger.ours(subject.uid, matter, isThere);
    for (const matter of stamped.keys()) if (!isOurs(matter, isSo(world, matter))) stamped.delete(matter);
    record.own = deriveOwnNode(world, { ...record, unknown: this.#unknownSide(record), isOurs });
    if (!always && record.own === previous) return;
    this.#listeners.announce([{ kind: 'modified', key: subject.name, object: record.own, previous }]);
  }

  *#everything(): Iterable<Change<NodeView>> {
    for (const { own } of this.#records.values()) yield { kind: 'added', key: own.name, object: own };
  }
}

function isSo(node: NodeView, matter: TaintMatter | 'unknown'): boolean {
  if (matter === 'unknown') return isUnknown(node);
  const place = matter.lastIndexOf(':');
  return hasTaint(node.taints, matter.slice(0, place), matter.slice(place + 1));
}
