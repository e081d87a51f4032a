// Nodes that fail together become silent one after the other. So the NoExecute taint of a silent node waits until it is known
// which nodes of its zone failed with it, where that may lower the rate of the zone: each of them sends a heartbeat, or becomes
// silent and counts as not ready. The tokens of the zone go on accruing.
import { mayHaveFailedTogether, type ReadyNode, ReadyNodes, type Stop } from './ready-nodes.ts';
import type { ZoneTable } from './zone-table.ts';

/** What a list of all heartbeats is read again after. */
const readEveryMs = 1_000;
/** A node whose silence is confirmed counts as not ready within this time: a pass, and the write of its status. */
const countedWithinMs = 5_000;
/** The longest wait of one node: others may have grace periods of hours, or may have been found without a known heartbeat. */
const waitMsMax = 300_000;

/** What is known of the heartbeats of a node, on the health clock. */
export interface NodeHeartbeats {
  readonly heartbeatAtMs: number;
  /** Whether that was a heartbeat that this process observed; otherwise the last one was then or before. */
  readonly isObserved: boolean;
  /** That was the end of a full disruption, in which every silent node counted. */
  readonly isReset: boolean;
  /** A healthy node like this one sends a heartbeat within this time. */
  readonly windowMs: number;
  readonly graceMs: number;
}

/** Since when a node is Unknown. */
export interface UnknownSince {
  /** On the health clock. */
  readonly atMs: number;
  /** As the API has it: another time is another silence. */
  readonly transitionAtMs: number;
}

interface AwaitedHeartbeatsOptions {
  readonly zones: Pick<ZoneTable, 'readyNodes' | 'levelsOf' | 'isSlowerWithout'>;
  /** Undefined: nothing is known, or the node is in planned maintenance, where its heartbeats are no evidence. */
  readonly heartbeatsOf: (node: string) => NodeHeartbeats | undefined;
  /** Undefined: the node is not Unknown. */
  readonly unknownSince: (node: string) => UnknownSince | undefined;
  /** The silence of a node is confirmed within this time after its grace period, if its lease can be read or not. */
  readonly confirmedWithinMs: () => number;
  /** The health clock. */
  readonly nowMs: () => number;
}

/** The stop of an Unknown node. */
interface KnownStop {
  readonly stop: Stop;
  readonly transitionAtMs: number;
  /** When the wait began. */
  readonly fromMs: number;
}

/** Nodes whose heartbeats are awaited, and when each has sent one or counts as not ready. */
interface AwaitedNodes {
  readonly nodes: readonly string[];
  readonly untilMs: number;
}

export class AwaitedHeartbeats {
  readonly #options: AwaitedHeartbeatsOptions;
  #read: { readonly atMs: number; readonly ready: ReadyNodes } | undefined;
  /** Of Unknown nodes: a heartbeat after which a node is still Unknown is no recovery, and does not change when it stopped. */
  readonly #stops = new Map<string, KnownStop>();

  constructor(options: AwaitedHeartbeatsOptions) {
    this.#options = options;
  }

  /** Milliseconds after which to ask again whether the NoExecute taint of this node waits, or would if it sent no further heartbeat; 0: it does not. */
  heldForMs(node: string): number {
    const known = this.#knownStop(node);
    return known !== undefined && !this.#isOver(known) && this.#isSlowed(node, known.stop) ? readEveryMs : 0;
  }

  /** The nodes for which the NoExecute taint of this node waits, or would wait if it sent no further heartbeat. */
  awaitedFor(node: string): AwaitedNodes | undefined {
    const known = this.#knownStop(node);
    if (known === undefined || this.#isOver(known) || !this.#isSlowed(node, known.stop)) return undefined;
    const { zones } = this.#options;
    const own = zones.levelsOf(node);
    const lost = [...this.#readyNodes().values()].filter(
      (ready) => ready.node !== node && mayHaveFailedTogether(ready, known.stop),
    );
    const nearest = lost.filter((ready) => zones.levelsOf(ready.node).some((zone) => own.includes(zone)));
    const awaited = nearest.length > 0 ? nearest : lost;
    const untilMs = awaited.reduce((latestMs, ready) => Math.max(latestMs, ready.untilMs), -Infinity);
    return { nodes: awaited.map((ready) => ready.node).sort(), untilMs: Math.min(untilMs, known.fromMs + waitMsMax) };
  }

  /** The node no longer exists. */
  forget(node: string): void {
    this.#stops.delete(node);
  }

  /** Number of Unknown nodes whose stop is remembered. */
  get size(): number {
    return this.#stops.size;
  }

  #isOver({ fromMs }: KnownStop): boolean {
    return this.#options.nowMs() - fromMs >= waitMsMax;
  }

  /** Whether the zone of this node would be slower without the nodes that may have failed with it. */
  #isSlowed(node: string, stop: Stop): boolean {
    const { zones, unknownSince } = this.#options;
    const ready = this.#readyNodes();
    // A node that has become Unknown since the list was read is in it, and does not wait for itself.
    const own = unknownSince(node) === undefined ? undefined : ready.get(node);
    const isListed = own !== undefined && mayHaveFailedTogether(own, stop);
    const ownLevels = isListed ? zones.levelsOf(node) : [];
    return zones.isSlowerWithout(node, (zone) => ready.countLost(zone, stop) - (ownLevels.includes(zone) ? 1 : 0));
  }

  /** Of an Unknown node: as it was when first asked for. Undefined: its next heartbeat is not due, or it waits for none. */
  #knownStop(node: string): KnownStop | undefined {
    const { heartbeatsOf, unknownSince, nowMs } = this.#options;
    const [heartbeats, since] = [heartbeatsOf(node), unknownSince(node)];
    if (heartbeats === undefined || countedInDisruption(heartbeats, since)) return undefined;
    const remembered = this.#stops.get(node);
    if (since !== undefined && remembered?.transitionAtMs === since.transitionAtMs) return remembered;
    const stop = toStop(heartbeats, since);
    const silentFromMs = heartbeats.heartbeatAtMs + heartbeats.graceMs;
    if (since === undefined)
      return nowMs() <= stop.byMs ? undefined : { stop, transitionAtMs: NaN, fromMs: silentFromMs };
    const known = { stop, transitionAtMs: since.transitionAtMs, fromMs: nowMs() };
    this.#stops.set(node, known);
    return known;
  }

  #readyNodes(): ReadyNodes {
    const atMs = this.#options.nowMs();
    if (this.#read === undefined || atMs - this.#read.atMs >= readEveryMs) {
      const { zones, heartbeatsOf } = this.#options;
      const confirmedWithinMs = this.#options.confirmedWithinMs();
      const nodes = [...zones.readyNodes()].flatMap(
        (node) => toReady(node, heartbeatsOf(node), confirmedWithinMs) ?? [],
      );
      const undecided = nodes.filter(({ untilMs }) => atMs <= untilMs);
      this.#read = { atMs, ready: new ReadyNodes(undecided, (node) => zones.levelsOf(node)) };
      this.#forgetEnded();
    }
    return this.#read.ready;
  }

  #forgetEnded(): void {
    for (const [node, { transitionAtMs }] of this.#stops)
      if (this.#options.unknownSince(node)?.transitionAtMs !== transitionAtMs) this.#stops.delete(node);
  }
}

/** A full disruption ended, and the node was Unknown before: all that was silent counted. */
function countedInDisruption({ isReset, heartbeatAtMs }: NodeHeartbeats, since: UnknownSince | undefined): boolean {
  return isReset && since !== undefined && since.atMs <= heartbeatAtMs;
}

/**
 * A node stopped before its next heartbeat was due. Of a node that this process found Unknown no heartbeat is known: any that is
 * observed of another was later, and what was found ready a grace period after that did not fail with it. A node found ready
 * may have sent its last heartbeat one window before.
 */
function toStop(heartbeats: NodeHeartbeats, since: UnknownSince | undefined): Stop {
  const { heartbeatAtMs, isObserved, windowMs, graceMs } = heartbeats;
  const isFoundUnknown = since !== undefined && !isObserved && since.atMs <= heartbeatAtMs;
  if (isFoundUnknown) return { lastFromMs: -Infinity, byMs: heartbeatAtMs, unknownForMs: heartbeatAtMs - since.atMs };
  const isLater = since !== undefined && since.atMs < heartbeatAtMs;
  const lastMs = isLater ? since.atMs - graceMs : heartbeatAtMs;
  return { lastFromMs: isObserved ? lastMs : lastMs - windowMs, byMs: lastMs + windowMs, unknownForMs: 0 };
}

function toReady(node: string, known: NodeHeartbeats | undefined, confirmedWithinMs: number): ReadyNode | undefined {
  if (known === undefined) return undefined;
  const { heartbeatAtMs, isObserved, windowMs, graceMs } = known;
  const countsAfterMs = graceMs + confirmedWithinMs + countedWithinMs;
  return {
    node,
    lastFromMs: isObserved ? heartbeatAtMs : heartbeatAtMs - windowMs,
    dueAtMs: heartbeatAtMs + windowMs,
    countsAfterMs,
    untilMs: heartbeatAtMs + countsAfterMs,
  };
}
