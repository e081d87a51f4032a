// Early warning: nodes without a heartbeat for longer than their policy waits, before their grace period ends. A warning decides and
// holds nothing: it is an Event, a metric, a line of the pages and, where the policy wants it, an annotation of the node.
import type { NodeView } from '../../machinery/api/node.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { Change } from '../../machinery/informer/informer.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { Live } from '../../machinery/ports/live.ts';
import { KeyedHeap } from '../../machinery/queueing/keyed-heap.ts';
import { TokenBucket } from '../../machinery/queueing/token-bucket.ts';
import { evaluationFailed } from '../model/decisions.ts';
import type { StageDependencies } from '../model/dependencies.ts';
import type { EarlyWarningRule, NodePolicy, OverdueEnd, OverdueNode, PolicySelection } from '../model/policy.ts';
import { PolicyCounters } from '../model/policy-counters.ts';
import type { LastHeartbeat } from '../model/renewals.ts';
import { nodeOverdue } from './events.ts';
import { overdueEnds, overdueNodes } from './metrics.ts';

/** Time between two reviews: a warning is this late at most. */
const reviewMs = 1_000;
/** Without a policy that warns; and until a silent node that is not overdue is looked at again. */
const idleReviewMs = 5_000;
/** So many at once, and then one in this time: the loss of a zone is not written node by node before all of it is written anyway. */
const annotationsMax = 50;
const annotationEveryMs = 1_000;
const eventsMax = 20;
const eventEveryMs = 5_000;

const ends: readonly OverdueEnd[] = ['heartbeat', 'silent', 'withdrawn', 'gone'];

interface OverdueNodesOptions extends Pick<StageDependencies, 'nodes' | 'decisions' | 'clock' | 'meter'> {
  readonly options: Live<{ readonly policies: readonly NodePolicy[] }>;
  readonly names: () => Iterable<string>;
  readonly selectionOf: (node: string) => PolicySelection;
  readonly isMaintained: (node: string) => boolean;
  /** Undefined: none was observed, or its kubelet has not posted a status yet. */
  readonly heartbeatOf: (node: NodeView) => LastHeartbeat | undefined;
  /** The time on the health clock. */
  readonly healthNowMs: () => number;
  /** Whether the annotation may be written, as not in mode Observe and by no shadow. */
  readonly mayAnnotate: (node: string) => boolean;
  readonly recorder: EventRecorder;
}

interface Applied {
  readonly policy: string;
  readonly rule: EarlyWarningRule;
}

/** A node of a policy that warns. */
interface Seen extends Applied {
  readonly node: NodeView;
  readonly heartbeat: LastHeartbeat;
}

interface Overdue extends OverdueNode {
  readonly uid: string;
  /** It is one of those that are annotated. */
  isAnnotated: boolean;
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
  readonly #annotations: TokenBucket;
  readonly #ended: PolicyCounters;
  #followed: readonly NodePolicy[] | undefined;
  #shown: readonly string[] = [];

  constructor(options: OverdueNodesOptions) {
    this.#options = options;
    const nowMs = options.clock.monotonicMs();
    this.#events = new TokenBucket(1_000 / eventEveryMs, eventsMax, nowMs);
    this.#annotations = new TokenBucket(1_000 / annotationEveryMs, annotationsMax, nowMs);
    this.#ended = new PolicyCounters({
      meter: options.meter,
      policies: () =>
        options.options
          .current()
          .policies.filter(isWarning)
          .map(({ name }) => name),
      series: ends.map((end) => [overdueEnds, { end }] as const),
    });
    options.meter.onRead(() => this.#show());
  }

  /** Looks at the nodes that are overdue, or may be by now. To be called while leading. */
  review(): Review {
    const { policies } = this.#options.options.current();
    const isWarned = policies.some(isWarning);
    const named = policies === this.#followed || !isWarned ? [] : this.#options.names();
    this.#followed = policies;
    const toLookAt = [...named, ...this.#due.takeDue(this.#options.healthNowMs()), ...this.#overdue.keys()];
    const changed = [...new Set(toLookAt)].filter((name) => this.observe(name));
    return { changed, waitMs: isWarned ? reviewMs : idleReviewMs };
  }

  /** A node that is new, or may have another policy, is looked at with the next review. */
  onNode(change: Change<NodeView>): void {
    const { object: node } = change;
    const isNew = change.kind === 'added' || (change.kind === 'modified' && change.previous.labels !== node.labels);
    if (isNew && this.#appliedTo(node.name) !== undefined) this.#due.set(node.name, this.#options.healthNowMs());
  }

  /**
   * Takes the current state of a node; returns whether its annotation may have to change. May be called at any time. An exception
   * concerns this node only.
   */
  observe(name: string): boolean {
    try {
      return this.#observe(name);
    } catch (error) {
      this.#options.decisions.note(evaluationFailed('early warning', name, error));
      return false;
    }
  }

  #observe(name: string): boolean {
    const seen = this.#see(name);
    this.#schedule(name, seen);
    if (seen === undefined) return this.#end(name, this.#withoutRule(name));
    const state = this.#stateOf(seen);
    if (state !== 'overdue') return this.#end(name, state);
    const isNew = this.#begin(seen);
    return this.#annotate(seen) || isNew;
  }

  /** Undefined: no rule applies to the node, or it has sent no heartbeat yet. */
  #see(name: string): Seen | undefined {
    const node = this.#options.nodes.get(name);
    const applied = this.#appliedTo(name);
    const heartbeat = node && applied && this.#options.heartbeatOf(node);
    return heartbeat && { node, heartbeat, ...applied };
  }

  #withoutRule(name: string): OverdueEnd {
    return this.#options.nodes.get(name) === undefined ? 'gone' : 'withdrawn';
  }

  /** A silent node that is not overdue is in maintenance, or silent for longer than its grace period. */
  #schedule(name: string, seen: Seen | undefined): void {
    if (seen === undefined) return void this.#due.remove(name);
    const nowMs = this.#options.healthNowMs();
    const dueMs = overdueFromMs(seen);
    this.#due.set(name, dueMs > nowMs ? dueMs : nowMs + idleReviewMs);
  }

  #stateOf(seen: Seen): 'overdue' | OverdueEnd {
    const { node, heartbeat } = seen;
    const known = this.#overdue.get(node.name);
    if (known !== undefined && known.uid !== node.uid) return 'gone';
    const nowMs = this.#options.healthNowMs();
    if (known !== undefined && (known.sinceMs !== heartbeat.wallMs || isRecent(heartbeat, nowMs))) return 'heartbeat';
    if (nowMs - heartbeat.atMs > heartbeat.graceMs) return 'silent';
    return overdueFromMs(seen) <= nowMs && !this.#options.isMaintained(node.name) ? 'overdue' : 'withdrawn';
  }

  /** False if it was overdue before. */
  #begin({ node, heartbeat: { atMs, wallMs, graceMs }, policy }: Seen): boolean {
    const known = this.#overdue.get(node.name);
    this.#overdue.set(node.name, { policy, sinceMs: wallMs, uid: node.uid, isAnnotated: known?.isAnnotated ?? false });
    if (known !== undefined) return false;
    const { healthNowMs, decisions, clock, recorder } = this.#options;
    const silentMs = healthNowMs() - atMs;
    const leftMs = Math.max(0, graceMs - silentMs);
    decisions.note({ kind: 'node-overdue', node: node.name, policy, silentMs, leftMs });
    if (this.#events.tryTake(clock.monotonicMs())) recorder.record(nodeOverdue(node, { silentMs, leftMs }));
    return true;
  }

  /** Whether the node is annotated from now on: not too many are at once. */
  #annotate({ node: { name }, rule }: Seen): boolean {
    const overdue = this.#overdue.get(name);
    if (overdue === undefined || overdue.isAnnotated || !rule.annotate || !this.#options.mayAnnotate(name))
      return false;
    overdue.isAnnotated = this.#annotations.tryTake(this.#options.clock.monotonicMs());
    return overdue.isAnnotated;
  }

  #end(name: string, why: OverdueEnd): boolean {
    const overdue = this.#overdue.get(name);
    if (overdue === undefined) return false;
    this.#overdue.delete(name);
    this.#ended.add(overdueEnds, 1, { policy: overdue.policy, end: why });
    this.#options.decisions.note({ kind: 'node-overdue-ended', node: name, why });
    return true;
  }

  /** The warning about a node; undefined: none. */
  of(name: string): OverdueNode | undefined {
    return this.#overdue.get(name);
  }

  /**
   * The value that the annotation of a node is to get; null: it is to be removed; undefined: it is as it should be. One that names the
   * last heartbeat stays until a later one, in whatever process, and while the node is Unknown, which it announced.
   */
  wantedAnnotation(node: NodeView): string | null | undefined {
    const { name, overdue: present } = node;
    const overdue = this.#overdue.get(name);
    if (present === undefined && overdue?.isAnnotated !== true) return undefined;
    const last = this.#lastHeartbeatText(node);
    if (present === last) return undefined;
    if (overdue?.isAnnotated === true && last === formatTime(overdue.sinceMs)) return last;
    return present === undefined ? undefined : null;
  }

  /** What the annotation names; undefined where no policy wants it, or a heartbeat has just come. */
  #lastHeartbeatText(node: NodeView): string | undefined {
    if (this.#appliedTo(node.name)?.rule.annotate !== true) return undefined;
    const heartbeat = this.#options.heartbeatOf(node);
    const isOld = heartbeat !== undefined && !isRecent(heartbeat, this.#options.healthNowMs());
    return isOld ? formatTime(heartbeat.wallMs) : undefined;
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

/** Also where the clock of the kubelet was set back, so that its heartbeats name an earlier time. */
function isRecent({ isObserved, atMs, renewsWithinMs }: LastHeartbeat, nowMs: number): boolean {
  return isObserved && nowMs - atMs < renewsWithinMs;
}

/** Not within the time in which a healthy node may send none, whatever the rule says. */
function overdueFromMs({
  heartbeat: { atMs, renewsWithinMs },
  rule: { afterMs },
}: Pick<Seen, 'heartbeat' | 'rule'>): number {
  return atMs + Math.max(afterMs, renewsWithinMs);
}
