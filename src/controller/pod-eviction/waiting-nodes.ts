// Nodes that are not Ready wait twice: for the end of the pod eviction timeout, and then in their zone's line for a token.
// A node may be passed over at both ends: what was heard of it meanwhile counts.
import type { NodeView } from '../../api/node.ts';
import { zoneOf } from '../../api/topology.ts';
import type { Clock } from '../../ports/clock.ts';
import { KeyedHeap } from '../../queueing/keyed-heap.ts';
import type { RateLimitedQueue } from '../../queueing/rate-limited-queue.ts';
import type { NodeSource } from '../commands.ts';
import type { DecisionSink } from '../decisions.ts';
import { decidePodEviction, type NodeStanding, type PodEvictionDecision } from './decide-pod-eviction.ts';

/** The lines in which nodes wait for their turn: one a zone, each with its own token bucket. */
export interface ZoneLines {
  zones(): readonly string[];
  get(zone: string): RateLimitedQueue | undefined;
  /** How many are ahead; undefined if the node waited in that line already. It leaves any other. */
  add(node: string, zone: string, nowMs: number): number | undefined;
  remove(node: string): boolean;
  zoneOf(node: string): string | undefined;
}

export interface WaitingNodesOptions {
  readonly podEvictionTimeoutMs: number;
  readonly nodes: NodeSource;
  readonly lines: ZoneLines;
  readonly decisions: DecisionSink;
  readonly clock: Clock;
  /** Status of the node's Ready condition, or `missing`. */
  readonly readyOf: (node: NodeView) => string;
  /** What is remembered of this node; undefined before anything was. */
  readonly healthOf: (node: string) => Omit<NodeStanding, 'ready'> | undefined;
  /** The clock of {@link healthOf}, which stands still while we are blind. */
  readonly healthNowMs: () => number;
}

type Withdrawal = 'node-ready' | 'not-due' | 'node-gone' | 'outage';

export class WaitingNodes {
  readonly #options: WaitingNodesOptions;
  /** When nodes that are not Ready will be due, on health's clock. */
  readonly #deadlines = new KeyedHeap();

  constructor(options: WaitingNodesOptions) {
    this.#options = options;
  }

  decide(node: NodeView): PodEvictionDecision {
    const { readyOf, healthOf, healthNowMs, podEvictionTimeoutMs } = this.#options;
    const nowMs = healthNowMs();
    // Of whom nothing is remembered yet, nothing is held against either: it was heard just now.
    const health = healthOf(node.name) ?? { heardAtMs: nowMs, readyChangedAtMs: nowMs };
    return decidePodEviction({ ...health, ready: readyOf(node) }, podEvictionTimeoutMs, nowMs);
  }

  /** Not due, or not any more: waits, outside the line, until it is. */
  schedule(node: NodeView, fromMs: number): void {
    const { name } = node;
    if (this.#options.lines.remove(name)) this.noteWithdrawn(name, 'not-due');
    const isNew = !this.#deadlines.has(name);
    this.#deadlines.set(name, fromMs);
    if (!isNew) return;
    const { decisions, readyOf, healthNowMs, podEvictionTimeoutMs: timeoutMs } = this.#options;
    const inMs = fromMs - healthNowMs();
    decisions.note({ kind: 'node-eviction-scheduled', node: name, ready: readyOf(node), inMs, timeoutMs });
  }

  /** Due: waits in its zone's line. */
  queue(node: NodeView, zone: string, unreadyMs: number): void {
    const { name } = node;
    const { lines, clock, decisions, readyOf, podEvictionTimeoutMs: timeoutMs } = this.#options;
    this.#deadlines.remove(name);
    const ahead = lines.add(name, zone, clock.monotonicMs());
    if (ahead === undefined) return;
    const ready = readyOf(node);
    decisions.note({ kind: 'node-eviction-queued', node: name, zone, ready, unreadyMs, timeoutMs, ahead });
  }

  /** Ends its waiting. Says whether it waited for anything. */
  withdraw(name: string): boolean {
    const hadDeadline = this.#deadlines.remove(name);
    return this.#options.lines.remove(name) || hadDeadline;
  }

  /** The node no longer exists: its time will not come. Its turn will, if it is in line. */
  forget(name: string): void {
    if (this.#deadlines.remove(name)) this.noteWithdrawn(name, 'node-gone');
  }

  isInLine(name: string): boolean {
    return this.#options.lines.zoneOf(name) !== undefined;
  }

  dueAtMs(name: string): number | undefined {
    return this.#deadlines.dueMs(name);
  }

  /** Who waits for the end of its time, in the order in which they will get in line. */
  notInLine(): readonly string[] {
    return this.#deadlines.keysInOrder();
  }

  /** Puts nodes in line whose time is up, and hands out turns as far as each zone's tokens go. */
  serve(takeTurn: (name: string, zone: string) => void): void {
    this.#lookAtDue();
    for (const zone of this.#options.lines.zones()) this.#serveZone(zone, takeTurn);
  }

  noteWithdrawn(node: string, why: Withdrawal): void {
    this.#options.decisions.note({ kind: 'node-eviction-withdrawn', node, why });
  }

  #lookAtDue(): void {
    const nowMs = this.#options.healthNowMs();
    for (let name = this.#deadlines.popDue(nowMs); name !== undefined; name = this.#deadlines.popDue(nowMs)) {
      const node = this.#options.nodes.get(name);
      if (node === undefined || this.#stepsOut(node)) continue;
      const decision = this.decide(node);
      if (decision.kind === 'evict') this.queue(node, zoneOf(node.labels), decision.unreadyMs);
    }
  }

  #serveZone(zone: string, takeTurn: (name: string, zone: string) => void): void {
    const { lines, nodes, clock } = this.#options;
    const line = lines.get(zone);
    const nowMs = clock.monotonicMs();
    for (let name = line?.peekDue(nowMs); name !== undefined; name = line?.peekDue(nowMs)) {
      const node = nodes.get(name);
      if (node !== undefined && this.#stepsOut(node)) continue;
      if (line?.tryTakeToken(nowMs) !== true) return;
      lines.remove(name);
      takeTurn(name, zone);
    }
  }

  /** Its time or its turn has come, and it is not due after all. One that is Ready again is attended to by who saw that. */
  #stepsOut(node: NodeView): boolean {
    const decision = this.decide(node);
    if (decision.kind === 'evict') return false;
    if (this.#options.lines.remove(node.name))
      this.noteWithdrawn(node.name, decision.kind === 'cancel' ? 'node-ready' : 'not-due');
    if (decision.kind === 'wait') this.schedule(node, decision.fromMs);
    return true;
  }
}
