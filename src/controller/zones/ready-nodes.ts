// The ready nodes by zone, so sorted that those that may have failed with another node are counted without a look at each.

/** A ready node whose silence would count. Times are on the health clock. */
export interface ReadyNode {
  readonly node: string;
  /** Its last heartbeat, at the earliest. */
  readonly lastFromMs: number;
  /** When its next one is due, counted from the latest time at which it may have sent its last. */
  readonly dueAtMs: number;
  /** It is silent and counts as not ready so long after its last heartbeat. */
  readonly countsAfterMs: number;
  /** When it has sent a heartbeat or counts as not ready. */
  readonly untilMs: number;
}

/** When a node stopped: between its last heartbeat and its next one. Times are on the health clock. */
export interface Stop {
  /** Its last heartbeat, at the earliest; -Infinity: it may have been at any time. */
  readonly lastFromMs: number;
  /** Its next heartbeat was due then, at the latest. */
  readonly byMs: number;
  /** How long it had been Unknown when it was found so. */
  readonly unknownForMs: number;
}

/** Nodes of one zone that count after the same time. */
interface Group {
  readonly countsAfterMs: number;
  readonly lastFromMs: Float64Array;
  readonly dueAtMs: Float64Array;
}

/** Each sent its last heartbeat before the next one of the other was due, and this one was not silent long ago. */
export function mayHaveFailedTogether(ready: ReadyNode, { lastFromMs, byMs, unknownForMs }: Stop): boolean {
  return ready.lastFromMs <= byMs && lastFromMs <= ready.dueAtMs && unknownForMs <= ready.countsAfterMs;
}

export class ReadyNodes {
  readonly #nodes: ReadonlyMap<string, ReadyNode>;
  readonly #groups: ReadonlyMap<string, readonly Group[]>;

  constructor(nodes: readonly ReadyNode[], levelsOf: (node: string) => readonly string[]) {
    this.#nodes = new Map(nodes.map((ready) => [ready.node, ready]));
    const byZone = Map.groupBy(
      nodes.flatMap((ready) => levelsOf(ready.node).map((zone) => ({ zone, ready }))),
      ({ zone }) => zone,
    );
    this.#groups = new Map([...byZone].map(([zone, members]) => [zone, toGroups(members.map(({ ready }) => ready))]));
  }

  get(node: string): ReadyNode | undefined {
    return this.#nodes.get(node);
  }

  values(): Iterable<ReadyNode> {
    return this.#nodes.values();
  }

  /** As many nodes of the zone as {@link mayHaveFailedTogether} is true for. */
  countLost(zone: string, { lastFromMs, byMs, unknownForMs }: Stop): number {
    let count = 0;
    for (const group of this.#groups.get(zone) ?? []) {
      if (unknownForMs > group.countsAfterMs) continue;
      // A node whose next heartbeat was due before has sent its last one before, too.
      count += countBelow(group.lastFromMs, byMs, true) - countBelow(group.dueAtMs, lastFromMs, false);
    }
    return count;
  }
}

function toGroups(nodes: readonly ReadyNode[]): readonly Group[] {
  return [...Map.groupBy(nodes, ({ countsAfterMs }) => countsAfterMs)].map(([countsAfterMs, members]) => ({
    countsAfterMs,
    lastFromMs: Float64Array.from(members, (ready) => ready.lastFromMs).sort(),
    dueAtMs: Float64Array.from(members, ({ dueAtMs }) => dueAtMs).sort(),
  }));
}

/** How many of these sorted times are before this one, or at it. */
function countBelow(timesMs: Float64Array, atMs: number, isIncluded: boolean): number {
  let [from, to] = [0, timesMs.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const timeMs = timesMs[middle] ?? Infinity;
    if (isIncluded ? timeMs <= atMs : timeMs < atMs) from = middle + 1;
    else to = middle;
  }
  return from;
}
