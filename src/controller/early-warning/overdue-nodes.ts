// Early warning: nodes without a heartbeat for longer than their policy waits, before their grace period ends. A warning decides and
// holds nothing: it is an Event, a metric, a line of the pages and, where the policy wants it, an annotation of the node.
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { Live } from '../../machinery/ports/live.ts';
import { KeyedHeap } from '../../machinery/queueing/keyed-heap.ts';
import { TokenBucket } from '../../machinery/queueing/token-bucket.ts';
import type { StageDependencies } from '../model/dependencies.ts';
import type { Now } from '../model/node-state.ts';
import type { EarlyWarningRule, NodePolicy, OverdueEnd, OverdueNode, PolicySelection } from '../model/policy.ts';
import { nodeOverdue } from './events.ts';
import { overdueEnds, overdueNodes } from './metrics.ts';

/** Time between two reviews: a warning is this late at most, and with no policy that warns the next one costs nothing. */
const reviewMs = 1_000;
const idleReviewMs = 5_000;
/** Nodes that are annotated at once: the loss of a zone is not written node by node shortly before it is written anyway. */
const annotatedMax = 50;
/** Events: this many at once, and then one in this time. */
const eventsMax = 20;
const eventEveryMs = 5_000;

/** The last heartbeat of a node. */
interface LastHeartbeat {
  /** On the health clock. */
  readonly atMs: number;
  /** The next one is sent within this time by a healthy node. */
  readonly renewsWithinMs: number;
  readonly graceMs: number;
}

interface OverdueNodesOptions extends Pick<StageDependencies, 'nodes' | 'decisions' | 'clock' | 'meter'> {
  readonly options: Live<{ readonly policies: readonly NodePolicy[] }>;
  readonly names: () => Iterable<string>;
  readonly selectionOf: (node: string) => PolicySelection;
  readonly isMaintained: (node: string) => boolean;
  /** Undefined: none was observed, or its kubelet has not posted a status yet. */
  readonly heartbeatOf: (node: NodeView) => LastHeartbeat | undefined;
  readonly healthNow: () => Now;
  readonly recorder: EventRecorder;
  /** False: no node is annotated, as in shadow mode. */
  readonly annotates: boolean;
}

interface Applied {
  readonly policy: string;
  readonly rule: EarlyWarningRule;
}

interface Overdue extends OverdueNode {
  /** It has one of the places for an annotation. */
  readonly isAnnotated: boolean;
}

/** Milliseconds until the next review, and the nodes whose annotation is to be written or removed. */
interface Review {
  readonly changed: readonly string[];
  readonly waitMs: number;
}

/** Which nodes are overdue. Level-triggered: each review derives it again; nothing is remembered of nodes without a rule. */
export class OverdueNodes {
  readonly #options: OverdueNodesOptions;
  /** When each node is to be looked at next, on the health clock. A heartbeat does not move it. */
  readonly #due = new KeyedHeap();
  readonly #overdue = new Map<string, Overdue>();
  readonly #events: TokenBucket;
  #followed: readonly NodePolicy[] | undefined;
  #shown: readonly string[] = [];

  constructor(options: OverdueNodesOptions) {
    this.#options = options;
    this.#events = new TokenBucket(1_000 / eventEveryMs, eventsMax, options.clock.monotonicMs());
    options.meter.onRead(() => this.#show());
  }

  /** Looks at the nodes that are overdue, or may be by now. To be called while leading. */
  review(): Review {
    const { policies } = this.#options.options.current();
    const isFollowed = policies === this.#followed;
    this.#followed = policies;
    const toLookAt = [
      ...(isFollowed ? [] : this.#named(policies)),
      ...this.#due.takeDue(this.#options.healthNow().monotonicMs),
      ...this.#overdue.keys(),
    ];
    const changed = [...new Set(toLookAt)].filter((name) => this.observe(name));
    return { changed, waitMs: policies.some(isWarning) ? reviewMs : idleReviewMs };
  }

  #named(policies: readonly NodePolicy[]): Iterable<string> {
    return policies.some(isWarning) ? this.#options.names() : [];
  }

  /** Takes the current state of a node; returns whether it became or ceased to be overdue. May be called at any time. */
  observe(name: string): boolean {
    const node = this.#options.nodes.get(name);
    const applied = this.#appliedTo(name);
    const { monotonicMs } = this.#options.healthNow();
    if (node === undefined || applied === undefined) {
      this.#due.remove(name);
      return this.#end(name, node === undefined ? 'gone' : 'policy');
    }
    const heartbeat = this.#options.heartbeatOf(node);
    const dueMs = heartbeat === undefined ? -Infinity : overdueFromMs(heartbeat, applied.rule);
    // Silent for long without being overdue: Unknown, in maintenance, or without a status.
    this.#due.set(name, dueMs > monotonicMs ? dueMs : monotonicMs + applied.rule.afterMs);
    if (heartbeat === undefined || !this.#isOverdue(node, applied.rule))
      return this.#end(name, endOf(node, dueMs <= monotonicMs));
    return this.#begin(node, heartbeat, applied);
  }

  /** Whether the last heartbeat of a node that is not Unknown is so old by now. */
  #isOverdue(node: NodeView, rule: EarlyWarningRule): boolean {
    const { heartbeatOf, isMaintained, healthNow } = this.#options;
    const heartbeat = heartbeatOf(node);
    if (heartbeat === undefined || isUnknown(node)) return false;
    return overdueFromMs(heartbeat, rule) <= healthNow().monotonicMs && !isMaintained(node.name);
  }

  #begin(node: NodeView, { atMs, graceMs }: LastHeartbeat, { policy, rule }: Applied): boolean {
    if (this.#overdue.has(node.name)) return false;
    const { healthNow, decisions, clock, recorder } = this.#options;
    const { monotonicMs, wallMs } = healthNow();
    const silentMs = monotonicMs - atMs;
    const leftMs = Math.max(0, graceMs - silentMs);
    this.#overdue.set(node.name, {
      policy,
      sinceMs: wallMs - silentMs,
      isAnnotated: rule.annotate && this.#annotated() < annotatedMax,
    });
    decisions.note({ kind: 'node-overdue', node: node.name, policy, silentMs, leftMs });
    if (this.#events.tryTake(clock.monotonicMs())) recorder.record(nodeOverdue(node, { silentMs, leftMs }));
    return true;
  }

  #end(name: string, why: OverdueEnd): boolean {
    const overdue = this.#overdue.get(name);
    if (overdue === undefined) return false;
    this.#overdue.delete(name);
    this.#options.meter.add(overdueEnds, 1, { policy: overdue.policy, end: why });
    this.#options.decisions.note({ kind: 'node-overdue-ended', node: name, why });
    return true;
  }

  #annotated(): number {
    let count = 0;
    for (const { isAnnotated } of this.#overdue.values()) count += isAnnotated ? 1 : 0;
    return count;
  }

  /** The warning about a node; undefined: none. */
  of(name: string): OverdueNode | undefined {
    return this.#overdue.get(name);
  }

  /**
   * The value that the annotation of a node is to get; null: it is to be removed; undefined: it is as it should be. It stays while
   * the node is Unknown, which was to be announced. A new leader, which has not looked at the node yet, removes no true one.
   */
  wantedAnnotation(node: NodeView): string | null | undefined {
    if (!this.#options.annotates) return undefined;
    const overdue = this.#overdue.get(node.name);
    if (overdue?.isAnnotated === true) return node.overdue === undefined ? formatTime(overdue.sinceMs) : undefined;
    if (node.overdue === undefined || isUnknown(node)) return undefined;
    const applied = this.#appliedTo(node.name);
    return applied?.rule.annotate === true && this.#isOverdue(node, applied.rule) ? undefined : null;
  }

  /** Number of overdue nodes of each policy that warns. */
  counts(): ReadonlyMap<string, number> {
    const { policies } = this.#options.options.current();
    const counts = new Map(policies.filter(isWarning).map(({ name }) => [name, 0]));
    for (const { policy } of this.#overdue.values()) counts.set(policy, (counts.get(policy) ?? 0) + 1);
    return counts;
  }

  /** Number of entries of the largest collection. */
  get size(): number {
    return Math.max(this.#due.size, this.#overdue.size);
  }

  #appliedTo(node: string): Applied | undefined {
    const selection = this.#options.selectionOf(node);
    if (selection.kind !== 'policy' || selection.policy.earlyWarning === undefined) return undefined;
    return { policy: selection.policy.name, rule: selection.policy.earlyWarning };
  }

  #show(): void {
    const { meter } = this.#options;
    for (const policy of this.#shown) meter.forget(overdueNodes, { policy });
    const counts = this.counts();
    for (const [policy, count] of counts) meter.set(overdueNodes, count, { policy });
    this.#shown = [...counts.keys()];
  }
}

function isWarning({ earlyWarning }: NodePolicy): boolean {
  return earlyWarning !== undefined;
}

/** Not within the time in which a healthy node may send none, whatever the rule says. */
function overdueFromMs({ atMs, renewsWithinMs }: LastHeartbeat, { afterMs }: EarlyWarningRule): number {
  return atMs + Math.max(afterMs, renewsWithinMs);
}

function isUnknown({ conditions }: NodeView): boolean {
  return findCondition(conditions, 'Ready')?.status === 'Unknown';
}

function endOf(node: NodeView, isSilent: boolean): OverdueEnd {
  if (!isSilent) return 'heartbeat';
  return isUnknown(node) ? 'unknown' : 'maintenance';
}
