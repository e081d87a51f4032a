// Which nodes really were silent: the heartbeats that reached the storage.
import { findCondition, listConditions } from '../../../src/machinery/api/conditions.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import { nodeLeaseNamespace } from '../../../src/machinery/api/resources.ts';
import type { StoreChange } from '../../../src/hollow-cluster/apiserver/storage/store-change.ts';
import type { World } from '../../../src/simulator/world.ts';

/** Shorter gaps between two heartbeats are not remembered. */
const gapMsMin = 5_000;
const memoryMs = 600_000;

interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

interface NodeHeartbeats {
  lastMs: number;
  gaps: readonly Gap[];
}

export class Heartbeats {
  readonly #world: World;
  readonly #nodes = new Map<string, NodeHeartbeats>();

  /** To be made before other listeners of commits that ask it. */
  constructor(world: World) {
    this.#world = world;
    world.storage.onCommit((resource, change, by) => {
      if (resource === 'leases' && by.process === 'fleet') this.#onLease(change);
      if (resource === 'nodes') this.#onNode(change);
    });
  }

  /** Virtual time of the last heartbeat; undefined for a node that never sent one. */
  lastMs(node: string): number | undefined {
    return this.#nodes.get(node)?.lastMs;
  }

  /** The longest time without a heartbeat that ended after this time, or has not ended. `unseenMs`: heartbeats of this time do not count. */
  longestSilenceMs(node: string, sinceMs: number, unseenMs = 0): number {
    const known = this.#nodes.get(node);
    if (known === undefined) return Infinity;
    const { nowMs } = this.#world.timeline;
    const endOf = (toMs: number): number => (toMs >= nowMs - unseenMs ? nowMs : toMs);
    const past = known.gaps.filter(({ toMs }) => toMs >= sinceMs).map(({ fromMs, toMs }) => endOf(toMs) - fromMs);
    return Math.max(nowMs - known.lastMs, ...past);
  }

  #onLease({ kind, object }: StoreChange): void {
    const [namespace, name = ''] = object.key.split('/');
    if (kind !== 'deleted' && namespace === nodeLeaseNamespace) this.#beat(name);
  }

  /** A node that is created begins with a heartbeat; then each status of its kubelet is one. */
  #onNode({ kind, object, previous }: StoreChange): void {
    const { storage } = this.#world;
    if (kind === 'deleted') return void this.#nodes.delete(object.name);
    const after = storage.decode('nodes', object);
    const before = previous && storage.decode('nodes', previous);
    if (before === undefined || heartbeatOf(before) !== heartbeatOf(after)) this.#beat(object.name);
  }

  #beat(node: string): void {
    const { nowMs } = this.#world.timeline;
    const known = this.#nodes.get(node) ?? { lastMs: nowMs, gaps: [] };
    this.#nodes.set(node, known);
    const gap = { fromMs: known.lastMs, toMs: nowMs };
    if (nowMs - known.lastMs >= gapMsMin)
      known.gaps = [...known.gaps.filter(({ toMs }) => toMs > nowMs - memoryMs), gap];
    known.lastMs = nowMs;
  }
}

function heartbeatOf(node: Node): string | undefined {
  return findCondition(listConditions(node.status?.conditions), 'Ready')?.lastHeartbeatTime;
}
