// No collection of a replica grows beyond the cluster: it has one entry at most for each node, pod or zone that existed a
// short time ago.
import { sameJson } from '../../../src/machinery/api/json-values.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import type { CollectionSize } from '../../../src/controller/report/collection-sizes.ts';
import type { StoreChange } from '../../../src/hollow-cluster/apiserver/storage/store-change.ts';
import { countedZoneOf, levelsOf } from '../policy-zones.ts';
import type { World } from '../../../src/simulator/world.ts';
import type { Report } from './violation.ts';

/** Within this time a replica knows a change of labels. */
const knownMs = 60_000;

type Kind = CollectionSize['per'];

export class SizeChecker {
  readonly #world: World;
  readonly #report: Report;
  /** By name: when it last existed. Of pods: of those that are gone. */
  readonly #seenMs: Readonly<Record<Kind, Map<string, number>>> = { node: new Map(), pod: new Map(), zone: new Map() };
  #memoryMs: number;
  /** Pods that exist. */
  readonly #pods = new Set<string>();
  /** Nodes before a change of their labels, oldest first. */
  readonly #relabelled: { readonly atMs: number; readonly node: Node }[] = [];

  /** `memoryMs`: for how long what was deleted may be remembered. */
  constructor(world: World, report: Report, memoryMs: number) {
    this.#world = world;
    this.#report = report;
    this.#memoryMs = memoryMs;
    world.storage.onCommit((resource, change) => {
      if (resource === 'nodes') this.#noteNode(change);
      if (resource === 'pods') this.#notePod(change);
    });
    world.storage.onRestore(() => {
      for (const name of this.#pods) this.#note('pod', name);
      this.#pods.clear();
      for (const { metadata } of world.storage.list('pods')) this.#pods.add(`${metadata.namespace}/${metadata.name}`);
    });
  }

  remember(memoryMs: number): void {
    this.#memoryMs = memoryMs;
  }

  /** To be called from time to time. */
  check(): void {
    this.#noteAll();
    const bounds = { node: this.#bound('node'), pod: this.#bound('pod'), zone: this.#bound('zone') };
    for (const { name, run } of this.#world.replicas.values()) {
      for (const { collection, per, entries } of run?.manager.sizes() ?? []) {
        if (entries <= bounds[per]) continue;
        const text = `${collection} has ${entries} entries, and the cluster had ${bounds[per]} ${per}s lately`;
        this.#report('collections-are-bounded', name, text);
      }
    }
  }

  #noteAll(): void {
    const { storage, config } = this.#world;
    const nodes: readonly Node[] = storage.list('nodes');
    for (const node of nodes) this.#note('node', node.metadata.name ?? '');
    for (const node of [...nodes, ...this.#recentlyRelabelled()]) {
      for (const zone of levelsOf(countedZoneOf(node, config.policies))) this.#note('zone', zone);
    }
  }

  #notePod({ kind, object }: StoreChange): void {
    if (kind === 'deleted') this.#pods.delete(object.key);
    else this.#pods.add(object.key);
    if (kind === 'deleted') this.#note('pod', object.key);
  }

  #noteNode({ object, previous }: StoreChange): void {
    const { storage, timeline } = this.#world;
    this.#note('node', object.name);
    if (previous === undefined || sameJson(previous.labels, object.labels)) return;
    this.#relabelled.push({ atMs: timeline.nowMs, node: storage.decode('nodes', previous) });
  }

  /** A replica that gets new settings may know the labels of a moment ago. */
  #recentlyRelabelled(): readonly Node[] {
    const sinceMs = this.#world.timeline.nowMs - knownMs;
    while ((this.#relabelled[0]?.atMs ?? Infinity) < sinceMs) this.#relabelled.shift();
    return this.#relabelled.map(({ node }) => node);
  }

  #note(kind: Kind, name: string): void {
    this.#seenMs[kind].set(name, this.#world.timeline.nowMs);
  }

  #bound(kind: Kind): number {
    const sinceMs = this.#world.timeline.nowMs - this.#memoryMs;
    const seen = this.#seenMs[kind];
    for (const [name, atMs] of seen) if (atMs < sinceMs) seen.delete(name);
    if (kind !== 'pod') return seen.size;
    // A pod that is created again under its name counts once.
    for (const name of seen.keys()) if (this.#pods.has(name)) seen.delete(name);
    return seen.size + this.#pods.size;
  }
}
