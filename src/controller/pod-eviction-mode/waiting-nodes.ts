// Nodes that are not Ready wait twice: for the end of the pod eviction timeout, and then in their zone's queue for a
// token. At the end of each the node is evaluated again: heartbeats received meanwhile count.
import type { NodeView } from '../../machinery/api/node.ts';
import { KeyedHeap } from '../../machinery/queueing/keyed-heap.ts';
import type { RateLimitedQueue } from '../../machinery/queueing/rate-limited-queue.ts';
import type { Alarm } from '../../machinery/supervision/alarm.ts';
import { decidePodEviction, type NodeReadiness, type PodEvictionDecision } from './decide-pod-eviction.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { EvictionModeOptions } from '../model/options.ts';
import type { Holds } from '../model/holds.ts';
import type { StageDependencies } from '../model/dependencies.ts';

/** The queues in which nodes wait: one per zone, each with its own token bucket. */
interface ZoneQueues {
  inServingOrder(): readonly string[];
  get(zone: string): RateLimitedQueue | undefined;
  /** Number of nodes ahead; undefined if the node is already in that queue. It is removed from any other. */
  add(node: string, zone: string, nowMs: number): number | undefined;
  remove(node: string): boolean;
  zoneOf(node: string): string | undefined;
  /** Number of nodes in all queues together. */
  readonly size: number;
  /** The earliest time at which a node of any zone is due and gets a token. */
  nextDueMs(nowMs: number): number;
}

export interface WaitingNodesOptions extends Pick<StageDependencies, 'nodes' | 'decisions' | 'clock'> {
  readonly options: Live<Pick<EvictionModeOptions, 'podEvictionTimeoutMs'>>;
  readonly queues: ZoneQueues;
  readonly zoneOf: (node: NodeView) => string;
  /** Woken when a node gets a deadline. */
  readonly serving: Pick<Alarm, 'wakeUp'>;
  /** Status of the node's Ready condition, or `missing`. */
  readonly readyOf: (node: NodeView) => string;
  /** The health record of this node; undefined before its first observation. */
  readonly healthOf: (node: string) => Omit<NodeReadiness, 'ready'> | undefined;
  /** The clock of {@link healthOf}, which stands still while watches are stale. */
  readonly healthNowMs: () => number;
  /** Others are served before a node that is held. */
  readonly holds: Holds;
}

/** Interval of checks for the end of the hold of one node. */
const heldNodeRecheckMs = 1_000;

type Withdrawal = 'node-ready' | 'not-due' | 'node-gone' | 'full-disruption';

export class WaitingNodes {
  readonly #options: WaitingNodesOptions;
  /** When nodes that are not Ready are due, on the health clock. */
  readonly #deadlines = new KeyedHeap();

  constructor(options: WaitingNodesOptions) {
    this.#options = options;
  }

  decide(node: NodeView): PodEvictionDecision {
    const { readyOf, healthOf, healthNowMs, options } = this.#options;
    const nowMs = healthNowMs();
    // A node without a record counts as having a heartbeat now.
    const health = healthOf(node.name) ?? { heartbeatAtMs: nowMs, readyChangedAtMs: nowMs };
    return decidePodEviction({ ...health, ready: readyOf(node) }, options.current().podEvictionTimeoutMs, nowMs);
  }

  /** Schedules a node that is not due, or no longer: it waits for its deadline, outside the queue. */
  schedule(node: NodeView, fromMs: number): void {
    const { name } = node;
    if (this.#options.queues.remove(name)) this.noteWithdrawn(name, 'not-due');
    const isNew = !this.#deadlines.has(name);
    this.#deadlines.set(name, fromMs);
    this.#options.serving.wakeUp();
    if (!isNew) return;
    const { decisions, readyOf, healthNowMs, options } = this.#options;
    const timeoutMs = options.current().podEvictionTimeoutMs;
    const inMs = fromMs - healthNowMs();
    decisions.note({ kind: 'node-eviction-scheduled', node: name, ready: readyOf(node), inMs, timeoutMs });
  }

  /** Due: waits in its zone's queue. */
  queue(node: NodeView, zone: string, unreadyMs: number): void {
    const { name } = node;
    const { queues, clock, decisions, readyOf, options } = this.#options;
    const timeoutMs = options.current().podEvictionTimeoutMs;
    this.#deadlines.remove(name);
    const ahead = queues.add(name, zone, clock.monotonicMs());
    if (ahead === undefined) return;
    const ready = readyOf(node);
    decisions.note({ kind: 'node-eviction-queued', node: name, zone, ready, unreadyMs, timeoutMs, ahead });
  }

  /** Ends its waiting. Returns whether it waited. */
  withdraw(name: string): boolean {
    const hadDeadline = this.#deadlines.remove(name);
    return this.#options.queues.remove(name) || hadDeadline;
  }

  /** The node no longer exists: its deadline is dropped. If it is queued, it keeps its place. */
  forget(name: string): void {
    if (this.#deadlines.remove(name)) this.noteWithdrawn(name, 'node-gone');
  }

  isQueued(name: string): boolean {
    return this.#options.queues.zoneOf(name) !== undefined;
  }

  dueAtMs(name: string): number | undefined {
    return this.#deadlines.dueMs(name);
  }

  /** Nodes that wait for the end of their timeout, in the order in which they will be queued. */
  notQueued(): readonly string[] {
    return this.#deadlines.keysInOrder();
  }

  /** Queues nodes whose timeout has ended, and serves nodes as far as the tokens of each zone allow. */
  serve(takeSlot: (name: string, zone: string) => void): void {
    this.#queueDue();
    for (const zone of this.#options.queues.inServingOrder()) this.#serveZone(zone, takeSlot);
  }

  /** Whether no node waits for the end of its timeout or for a token. */
  isIdle(): boolean {
    return this.#deadlines.size === 0 && this.#options.queues.size === 0;
  }

  /** Milliseconds until the next useful call of {@link serve}; Infinity where no node waits. */
  nextServeInMs(): number {
    const { queues, clock, healthNowMs } = this.#options;
    const nowMs = clock.monotonicMs();
    const timeoutInMs = (this.#deadlines.peek()?.dueMs ?? Infinity) - healthNowMs();
    return Math.max(0, Math.min(timeoutInMs, queues.nextDueMs(nowMs) - nowMs));
  }

  noteWithdrawn(node: string, why: Withdrawal): void {
    this.#options.decisions.note({ kind: 'node-eviction-withdrawn', node, why });
  }

  #queueDue(): void {
    const nowMs = this.#options.healthNowMs();
    for (let name = this.#deadlines.popDue(nowMs); name !== undefined; name = this.#deadlines.popDue(nowMs)) {
      const node = this.#options.nodes.get(name);
      if (node === undefined || this.#stepsOut(node)) continue;
      const decision = this.decide(node);
      if (decision.kind === 'evict') this.queue(node, this.#options.zoneOf(node), decision.unreadyMs);
    }
  }

  /** A held node keeps its place; others are served before it. */
  #isHeld(name: string, queue: RateLimitedQueue | undefined, nowMs: number): boolean {
    const heldMs = this.#options.holds.heldForMs(name, 'empty-node');
    if (heldMs > 0) queue?.postpone(name, nowMs + Math.min(heldMs, heldNodeRecheckMs));
    if (heldMs > 0 && this.#options.holds.isIntended(name, 'empty-node')) queue?.waitsFrom(name, nowMs);
    return heldMs > 0;
  }

  #serveZone(zone: string, takeSlot: (name: string, zone: string) => void): void {
    const { queues, nodes, clock } = this.#options;
    const queue = queues.get(zone);
    const nowMs = clock.monotonicMs();
    for (let name = queue?.peekDue(nowMs); name !== undefined; name = queue?.peekDue(nowMs)) {
      const node = nodes.get(name);
      if (node !== undefined && this.#stepsOut(node)) continue;
      if (this.#isHeld(name, queue, nowMs)) continue;
      if (queue?.tryTakeToken(nowMs) !== true) return;
      queues.remove(name);
      takeSlot(name, zone);
    }
  }

  /** Whether the node is not due after all; then it is dequeued. A node that is Ready again is reconciled elsewhere. */
  #stepsOut(node: NodeView): boolean {
    const decision = this.decide(node);
    if (decision.kind === 'evict') return false;
    if (this.#options.queues.remove(node.name))
      this.noteWithdrawn(node.name, decision.kind === 'cancel' ? 'node-ready' : 'not-due');
    if (decision.kind === 'wait') this.schedule(node, decision.fromMs);
    return true;
  }
}
