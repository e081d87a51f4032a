// Nodes without heartbeats for longer than healthy ones, whose policy wants other evidence before their grace period ends.
import type { NodeView } from '../../machinery/api/node.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import { zoneOf } from '../../machinery/api/topology.ts';
import type { Live } from '../../machinery/ports/live.ts';
import { KeyedHeap } from '../../machinery/queueing/keyed-heap.ts';
import type { NodeSource } from '../model/commands.ts';
import { type DecisionSink, evaluationFailed } from '../model/decisions.ts';
import type { RoundResult } from '../model/detection.ts';
import type { DetectionRule, NodePolicy, PolicySelection } from '../model/policy.ts';
import type { LastHeartbeat } from '../model/renewals.ts';

/** Nodes that are not scheduled are found within so many reviews. */
const reviewsPerScan = 20;
/** So many are looked at in a review at least. */
const lookedAtMin = 200;
/** Until a node that is not without heartbeats, or in maintenance, is looked at again. */
const lookMs = 10_000;

export interface ProbedNode {
  readonly node: string;
  readonly zone: string;
  readonly policy: string;
  /** Policies with limits that claim it. */
  readonly claims: readonly string[];
  readonly rule: DetectionRule;
  /** On the health clock. */
  readonly heartbeatAtMs: number;
  /** The last heartbeat as its kubelet wrote the time: the same for every replica. */
  readonly heartbeat: string;
  readonly graceMs: number;
  /** Undefined: no round has ended since its last heartbeat. */
  readonly last: RoundResult | undefined;
  /** When it ended, on the monotonic clock. */
  readonly lastAtMs: number;
  /** Rounds without an answer up to the last one. */
  readonly silentRounds: number;
}

interface SuspectsOptions {
  readonly options: Live<{ readonly policies: readonly NodePolicy[] }>;
  readonly nodes: NodeSource;
  readonly decisions: DecisionSink;
  readonly names: () => Iterable<string>;
  readonly selectionOf: (node: string) => PolicySelection;
  /** Policies with limits that claim a node. */
  readonly claimsOf: (node: string) => readonly string[];
  readonly isMaintained: (node: string) => boolean;
  /** Undefined: its kubelet has posted no status yet. */
  readonly heartbeatOf: (node: NodeView) => LastHeartbeat | undefined;
  /** The time on the health clock. */
  readonly healthNowMs: () => number;
}

interface Candidate extends Pick<ProbedNode, 'policy' | 'rule'> {
  readonly heartbeat: LastHeartbeat;
}

/** Level-triggered: a review derives them again, and remembers of each what its probes found since its last heartbeat. */
export class ProbedNodes {
  readonly #options: SuspectsOptions;
  readonly #probed = new Map<string, ProbedNode>();
  /** When each node is to be looked at next, on the health clock. A heartbeat does not move it. */
  readonly #due = new KeyedHeap();
  /** Nodes that this scan has not looked at yet. */
  #toScan: readonly string[] = [];
  #perReview = 0;

  constructor(options: SuspectsOptions) {
    this.#options = options;
  }

  /** Whether a policy wants early detection. */
  get isWanted(): boolean {
    return this.#options.options.current().policies.some(({ detection }) => detection !== undefined);
  }

  get(node: string): ProbedNode | undefined {
    return this.#probed.get(node);
  }

  all(): readonly ProbedNode[] {
    return [...this.#probed.values()];
  }

  get count(): number {
    return this.#probed.size;
  }

  /** Number of entries of the largest collection. */
  get size(): number {
    return Math.max(this.#probed.size, this.#due.size, this.#toScan.length);
  }

  /** Looks at the nodes that may be probed now. Nothing is looked at where no policy wants it. */
  review(): void {
    if (!this.isWanted) return this.forgetAll();
    this.#scan();
    const due = this.#due.takeDue(this.#options.healthNowMs());
    for (const node of new Set([...due, ...this.#probed.keys()])) this.look(node);
  }

  /** The result of a round that began after this heartbeat. */
  note({ node, heartbeat }: Pick<ProbedNode, 'node' | 'heartbeat'>, result: RoundResult, nowMs: number): void {
    const one = this.#probed.get(node);
    if (one?.heartbeat !== heartbeat) return;
    const silentRounds = result === 'no-answer' ? one.silentRounds + 1 : 0;
    this.#probed.set(node, { ...one, last: result, lastAtMs: nowMs, silentRounds });
  }

  /** Whether a heartbeat arrived recently: such a node answers, if probes reach it. */
  isFresh(node: NodeView): boolean {
    const heartbeat = this.#options.heartbeatOf(node);
    return heartbeat?.isObserved === true && this.#overdueInMs(heartbeat) > 0;
  }

  forgetAll(): void {
    this.#probed.clear();
    for (const node of this.#due.keysInOrder()) this.#due.remove(node);
    this.#toScan = [];
  }

  /** Looks at some more of all nodes, so that no event is needed for any of them. */
  #scan(): void {
    if (this.#toScan.length === 0) {
      this.#toScan = [...this.#options.names()];
      this.#perReview = Math.max(lookedAtMin, Math.ceil(this.#toScan.length / reviewsPerScan));
    }
    for (const name of this.#toScan.slice(0, this.#perReview)) if (!this.#due.has(name)) this.look(name);
    this.#toScan = this.#toScan.slice(this.#perReview);
  }

  /** Derives the state of a node again. An exception concerns this node only. */
  look(name: string): void {
    try {
      this.#look(name);
    } catch (error) {
      this.#probed.delete(name);
      this.#due.set(name, this.#options.healthNowMs() + lookMs);
      this.#options.decisions.note(evaluationFailed('early detection', name, error));
    }
  }

  #look(name: string): void {
    const found = this.#candidate(name);
    const overdueInMs = found === undefined ? lookMs : this.#overdueInMs(found.heartbeat);
    if (this.#options.nodes.get(name) === undefined) this.#due.remove(name);
    else this.#due.set(name, this.#options.healthNowMs() + (overdueInMs > 0 ? overdueInMs : lookMs));
    if (found === undefined || overdueInMs > 0) this.#probed.delete(name);
    else this.#probed.set(name, this.#probedOf(name, found));
  }

  /** What is known of it already holds since the same heartbeat only. */
  #probedOf(node: string, { heartbeat: { wallMs, atMs, graceMs }, policy, rule }: Candidate): ProbedNode {
    const known = this.#probed.get(node);
    const zone = zoneOf(this.#options.nodes.get(node)?.labels ?? {});
    const claims = this.#options.claimsOf(node);
    const one = { node, zone, policy, claims, rule, heartbeatAtMs: atMs, heartbeat: formatTime(wallMs), graceMs };
    const isSame = known?.heartbeat === one.heartbeat && known.heartbeatAtMs === atMs;
    return isSame ? { ...known, ...one } : { ...one, last: undefined, lastAtMs: -Infinity, silentRounds: 0 };
  }

  /** Undefined: no rule applies to it, it is in planned maintenance, or its grace period is over. */
  #candidate(name: string): Candidate | undefined {
    const selection = this.#options.selectionOf(name);
    const node = this.#options.nodes.get(name);
    if (node === undefined || selection.kind !== 'policy' || selection.policy.detection === undefined) return undefined;
    const heartbeat = this.#options.heartbeatOf(node);
    if (heartbeat?.isObserved !== true || this.#options.isMaintained(name)) return undefined;
    const { name: policy, detection: rule } = selection.policy;
    const isOver = this.#options.healthNowMs() - heartbeat.atMs > heartbeat.graceMs;
    return isOver ? undefined : { heartbeat, policy, rule };
  }

  /** Not within the time in which a healthy node may send none. */
  #overdueInMs({ atMs, renewsWithinMs }: LastHeartbeat): number {
    return atMs + renewsWithinMs - this.#options.healthNowMs();
  }
}
