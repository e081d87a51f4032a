// Nodes that fail together become silent one after the other. So the NoExecute taint of a silent node waits until it is known
// which nodes of its zone failed with it, where that may lower the rate of the zone: each of them sends a heartbeat, or becomes
// silent and counts as not ready. The tokens of the zone go on accruing.
import type { ZoneTable } from './zone-table.ts';

/** What a list of all heartbeats is read again after. */
const readEveryMs = 1_000;
/** A node counts as not ready so long after its grace period, if its silence is not confirmed by then. */
const confirmedWithinMs = 10_000;

/** What is known of the heartbeats of a node, on the health clock. */
export interface NodeHeartbeats {
  readonly heartbeatAtMs: number;
  /** Whether that was a heartbeat that this process observed; otherwise the node is known since then. */
  readonly isObserved: boolean;
  /** That was the end of a full disruption, in which every silent node counted. */
  readonly isReset: boolean;
  /** A healthy node like this one sends a heartbeat within this time. */
  readonly windowMs: number;
  readonly graceMs: number;
}

interface AwaitedHeartbeatsOptions {
  readonly zones: Pick<ZoneTable, 'readyNodes' | 'levelsOf' | 'isSlowerWithout'>;
  /** Undefined: nothing is known, or the node is in planned maintenance, where its heartbeats are no evidence. */
  readonly heartbeatsOf: (node: string) => NodeHeartbeats | undefined;
  /** Since when the node is Unknown, on the health clock; undefined: it is not. */
  readonly unknownSinceMs: (node: string) => number | undefined;
  /** The health clock. */
  readonly nowMs: () => number;
}

interface ReadyNode {
  readonly node: string;
  readonly heartbeatAtMs: number;
  /** When it has sent a heartbeat or counts as not ready. */
  readonly untilMs: number;
}

/** The ready nodes by zone, those with the oldest heartbeat first. */
type ReadyNodes = ReadonlyMap<string, readonly ReadyNode[]>;

/** By when a node had stopped, and how long it had been Unknown where it was found so. */
interface Stop {
  readonly byMs: number;
  readonly unknownForMs: number;
}

/** Nodes whose heartbeats are awaited, and when each has sent one or counts as not ready. */
interface AwaitedNodes {
  readonly nodes: readonly string[];
  readonly untilMs: number;
}

export class AwaitedHeartbeats {
  readonly #options: AwaitedHeartbeatsOptions;
  #read: { readonly atMs: number; readonly ready: ReadyNodes } | undefined;

  constructor(options: AwaitedHeartbeatsOptions) {
    this.#options = options;
  }

  /** Milliseconds after which to ask again whether the NoExecute taint of this node still waits; 0: it does not. */
  heldForMs(node: string): number {
    return this.#options.unknownSinceMs(node) !== undefined && this.#isSlowed(node) ? readEveryMs : 0;
  }

  /** The nodes for which the NoExecute taint of this node waits, or would wait if it sent no further heartbeat. */
  awaitedFor(node: string): AwaitedNodes | undefined {
    const stopped = this.#stopped(node);
    if (stopped === undefined || !this.#isSlowed(node)) return undefined;
    const own = this.#options.zones.levelsOf(node);
    const lost = [...this.#readyNodes()].map(([zone, ready]) => {
      return { zone, nodes: selectLost(ready, stopped).filter((other) => other.node !== node) };
    });
    const nearest = lost.filter(({ zone, nodes }) => own.includes(zone) && nodes.length > 0);
    const awaited = (nearest.length > 0 ? nearest : lost).flatMap(({ nodes }) => nodes);
    const nodes = [...new Set(awaited.map((other) => other.node))].sort();
    return { nodes, untilMs: Math.max(...awaited.map(({ untilMs }) => untilMs)) };
  }

  /** Whether the zone of this node would be slower without the nodes that may have failed with it. */
  #isSlowed(node: string): boolean {
    const stopped = this.#stopped(node);
    if (stopped === undefined) return false;
    const lost = [...this.#readyNodes()].map(([zone, ready]) => [zone, selectLost(ready, stopped).length] as const);
    return this.#options.zones.isSlowerWithout(node, new Map(lost));
  }

  /**
   * By when this node had stopped, because its next heartbeat was due; undefined if that is in the future. What sent one later
   * did not fail with it. Of a node that this process found Unknown no heartbeat is known: any that is observed was later, and
   * what was found ready a grace period after that did not fail with it.
   */
  #stopped(node: string): Stop | undefined {
    const { heartbeatsOf, unknownSinceMs, nowMs } = this.#options;
    const known = heartbeatsOf(node);
    if (known === undefined || known.isReset) return undefined;
    const { heartbeatAtMs, isObserved, windowMs } = known;
    const sinceMs = unknownSinceMs(node);
    if (!isObserved && sinceMs !== undefined) return { byMs: heartbeatAtMs, unknownForMs: heartbeatAtMs - sinceMs };
    return nowMs() <= heartbeatAtMs + windowMs ? undefined : { byMs: heartbeatAtMs + windowMs, unknownForMs: 0 };
  }

  #readyNodes(): ReadyNodes {
    const atMs = this.#options.nowMs();
    if (this.#read === undefined || atMs - this.#read.atMs >= readEveryMs) {
      const { zones, heartbeatsOf } = this.#options;
      const ready = [...zones.readyNodes()].flatMap((node) => toReady(node, heartbeatsOf(node)) ?? []);
      this.#read = {
        atMs,
        ready: byZone(
          ready.filter(({ untilMs }) => atMs <= untilMs),
          zones,
        ),
      };
    }
    return this.#read.ready;
  }
}

function toReady(node: string, known: NodeHeartbeats | undefined): ReadyNode | undefined {
  if (known === undefined) return undefined;
  const { heartbeatAtMs, graceMs } = known;
  return { node, heartbeatAtMs, untilMs: heartbeatAtMs + graceMs + confirmedWithinMs };
}

function byZone(nodes: readonly ReadyNode[], zones: Pick<ZoneTable, 'levelsOf'>): ReadyNodes {
  const found = new Map<string, ReadyNode[]>();
  for (const ready of nodes.toSorted((a, b) => a.heartbeatAtMs - b.heartbeatAtMs)) {
    for (const zone of zones.levelsOf(ready.node)) {
      const ofZone = found.get(zone);
      if (ofZone === undefined) found.set(zone, [ready]);
      else ofZone.push(ready);
    }
  }
  return found;
}

/** Those of these nodes that have sent no heartbeat since, and may still become silent. */
function selectLost(ready: readonly ReadyNode[], { byMs, unknownForMs }: Stop): readonly ReadyNode[] {
  const lost = ready.slice(0, countUpTo(ready, byMs));
  return lost.filter(({ heartbeatAtMs, untilMs }) => unknownForMs <= untilMs - heartbeatAtMs);
}

/** How many of these nodes have sent no heartbeat after this time. */
function countUpTo(ready: readonly ReadyNode[], byMs: number): number {
  let [from, to] = [0, ready.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ready[middle]?.heartbeatAtMs ?? Infinity) <= byMs) from = middle + 1;
    else to = middle;
  }
  return from;
}
