// The nodes as if only the shadow managed their lifecycle. An informer like the one behind it, so that the stages need
// no change:
// decisions of the shadow are visible here at once, and actions of the cluster only when the shadow takes the same
// action.
import type { Condition } from '../../machinery/api/conditions.ts';
import type { LeaseView } from '../../machinery/api/lease.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { objectKey } from '../../machinery/api/object-key.ts';
import { nodeLeaseNamespace } from '../../machinery/api/resources.ts';
import { hasTaint, type Taint } from '../../machinery/api/taints.ts';
import type { Labels } from '../../machinery/api/topology.ts';
import type { Change, Informer } from '../../machinery/informer/informer.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import type { Command } from '../model/commands.ts';
import { buildOwnNode, classifyTaint } from './build-own-objects.ts';
import { classifyTaintActs, hasKubeletPosted, isUnknown } from './classify-real-acts.ts';
import { ShadowInformer } from './shadow-informer.ts';
import type { EpisodeLedger } from './episode-ledger.ts';
import type { Party, EpisodeSubject, TaintMatter } from './episode.ts';

interface ShadowNodesOptions extends Ambient {
  readonly nodes: Informer<NodeView>;
  readonly leases: Informer<LeaseView>;
  readonly ledger: EpisodeLedger;
  /** False: this process evaluates no nodes, so that they are as they are. */
  readonly compares: boolean;
}

/** Receives changes of nodes. */
export interface NodeFollower {
  /** The cluster marked it Unknown. */
  clusterMarkedUnknown(node: string): void;
  /** Notes that a node sent a heartbeat after either side marked it Unknown. */
  kubeletPosted(node: string): void;
}

interface NodeRecord {
  readonly subject: EpisodeSubject;
  world: NodeView;
  own: NodeView;
  kubeletConditions: readonly Condition[];
  shadowConditions: readonly Condition[];
  /** renewTime of its lease when the shadow marked it Unknown. */
  renewTime: string | undefined;
  /** Taints that exist for the shadow, as they were when the shadow added or last saw them. */
  readonly stamped: Map<TaintMatter, Taint>;
  labels: Labels;
}

export class ShadowNodes extends ShadowInformer<NodeView> {
  readonly #options: ShadowNodesOptions;
  readonly #records = new Map<string, NodeRecord>();
  #follower: NodeFollower | undefined;

  constructor(options: ShadowNodesOptions) {
    super(options.nodes, options);
    this.#options = options;
    options.nodes.onChange('shadow', (change) => this.#onChange(change));
    options.leases.onChange('shadow', (change) => this.#onLease(change));
  }

  follow(follower: NodeFollower): void {
    this.#follower = follower;
  }

  /** The real node; undefined where it does not exist. */
  real(name: string): NodeView | undefined {
    return this.#options.nodes.store.get(name);
  }

  // --- decisions of the shadow ---

  /** `gone`: not the node of the decision. */
  applyUnknown({ node, conditions }: Extract<Command, { kind: 'set-node-conditions' }>): 'written' | 'gone' {
    const record = this.#recordOf(node);
    if (record === undefined) return 'gone';
    record.shadowConditions = conditions;
    record.renewTime = this.#renewTimeOf(node.name);
    this.#act(record, 'unknown', 'shadow', true);
    this.#refresh(record);
    return 'written';
  }

  applyTaints({ node, add, remove }: Extract<Command, { kind: 'change-taints' }>): 'written' | 'gone' {
    const record = this.#recordOf(node);
    if (record === undefined) return 'gone';
    for (const taint of add) this.#applyTaint(record, taint, true);
    for (const taint of remove) this.#applyTaint(record, taint, false);
    this.#refresh(record);
    return 'written';
  }

  /** Applied, and not compared. */
  applyLabels({ node, labels }: Extract<Command, { kind: 'set-node-metadata' }>): 'written' | 'gone' {
    const record = this.#recordOf(node);
    if (record === undefined) return 'gone';
    record.labels = { ...record.labels, ...labels };
    this.#refresh(record);
    return 'written';
  }

  /** Notes that the episodes of a node changed without an action. */
  refresh(name: string): void {
    const record = this.#records.get(name);
    if (record !== undefined) this.#refresh(record);
  }

  // --- Informer ---

  override get size(): number {
    return this.#options.nodes.store.size;
  }

  override get(name: string): NodeView | undefined {
    const world = this.#options.nodes.store.get(name);
    const record = this.#records.get(name);
    // A node in the store that was not announced yet is announced next.
    return world !== undefined && record?.subject.uid === world.uid ? record.own : world;
  }

  override keys(): Iterable<string> {
    return this.#options.nodes.store.keys();
  }

  override byIndex(index: string, value: string): readonly NodeView[] {
    return this.#options.nodes.store.byIndex(index, value).map((node) => this.get(node.name) ?? node);
  }

  // --- changes of the cluster ---

  #onChange(change: Change<NodeView>): void {
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
      kubeletConditions: [],
      shadowConditions: [],
      renewTime: undefined,
      stamped: new Map(),
      labels: {},
    });
    this.listeners.deliver([{ kind: 'added', key: name, object: world }]);
  }

  #forget(change: Change<NodeView>, record: NodeRecord | undefined): void {
    const { name, uid } = change.object;
    this.#options.ledger.forget(uid);
    this.#records.delete(name);
    this.listeners.deliver([{ kind: 'deleted', key: name, object: record?.own ?? change.object }]);
  }

  #compare(record: NodeRecord, before: NodeView): void {
    const { world } = record;
    if (isUnknown(world) && !isUnknown(before)) {
      record.kubeletConditions = before.conditions;
      this.#act(record, 'unknown', 'cluster', true);
      this.#follower?.clusterMarkedUnknown(world.name);
    } else if (hasKubeletPosted(before, world)) this.#settleUnknown(record);
    for (const { matter, value } of classifyTaintActs(before, world)) {
      if (!value) this.#keepTaint(record, matter, before);
      this.#act(record, matter, 'cluster', value);
    }
  }

  /** A taint removed by the cluster exists for the shadow until the shadow would remove it too. */
  #keepTaint({ stamped }: NodeRecord, matter: TaintMatter, { taints }: NodeView): void {
    const taint = taints.find((candidate) => classifyTaint(candidate) === matter);
    if (taint !== undefined && !stamped.has(matter)) stamped.set(matter, taint);
  }

  #settleUnknown({ subject, world }: NodeRecord): void {
    this.#options.ledger.settle(subject.uid, 'unknown');
    this.#follower?.kubeletPosted(world.name);
  }

  /**
   * A kubelet that is back would post its status to end the shadow's Unknown; it does not see it, but renews its lease.
   */
  #onLease(change: Change<LeaseView>): void {
    const record = this.#records.get(change.object.name);
    if (change.kind === 'deleted' || record === undefined) return;
    if (this.#unknownSide(record) !== 'marked' || change.object.renewTime === record.renewTime) return;
    this.#settleUnknown(record);
    this.#refresh(record);
  }

  #renewTimeOf(node: string): string | undefined {
    return this.#options.leases.store.get(objectKey(nodeLeaseNamespace, node))?.renewTime;
  }

  #recordOf({ name, uid }: NodeView): NodeRecord | undefined {
    const record = this.#records.get(name);
    return record?.subject.uid === uid && this.real(name)?.uid === uid ? record : undefined;
  }

  #applyTaint(record: NodeRecord, taint: Taint, value: boolean): void {
    const matter = classifyTaint(taint);
    if (matter === undefined) return;
    if (value) record.stamped.set(matter, taint);
    this.#act(record, matter, 'shadow', value);
  }

  /** An action of the cluster is already in the store: before it the value was the opposite for both. */
  #act({ subject, world }: NodeRecord, matter: TaintMatter | 'unknown', party: Party, value: boolean): void {
    const standing = party === 'cluster' ? !value : isSo(world, matter);
    this.#options.ledger.act(subject, matter, { party, value, standing });
  }

  #unknownSide({ subject }: NodeRecord): 'as-it-is' | 'marked' | 'unmarked' {
    const episode = this.#options.ledger.get(subject.uid, 'unknown');
    if (episode === undefined) return 'as-it-is';
    return episode.by === 'shadow' ? 'marked' : 'unmarked';
  }

  #refresh(record: NodeRecord, { always = false } = {}): void {
    const { subject, world, own: previous, stamped } = record;
    const isInShadow = (matter: TaintMatter, isThere: boolean): boolean =>
      this.#options.ledger.shadowValue(subject.uid, matter, isThere);
    for (const matter of stamped.keys()) if (!isInShadow(matter, isSo(world, matter))) stamped.delete(matter);
    record.own = buildOwnNode(world, { ...record, unknown: this.#unknownSide(record), isInShadow });
    if (!always && record.own === previous) return;
    this.listeners.deliver([{ kind: 'modified', key: subject.name, object: record.own, previous }]);
  }

  protected override *everything(): Iterable<Change<NodeView>> {
    for (const { own } of this.#records.values()) yield { kind: 'added', key: own.name, object: own };
  }
}

function isSo(node: NodeView, matter: TaintMatter | 'unknown'): boolean {
  if (matter === 'unknown') return isUnknown(node);
  const place = matter.lastIndexOf(':');
  return hasTaint(node.taints, matter.slice(0, place), matter.slice(place + 1));
}
