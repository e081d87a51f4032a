// Deletes pods from nodes whose NoExecute taints they do not tolerate. Evaluating a pod only creates, moves or cancels
// its timed eviction; when that is due, the pod is evaluated again before any write. All state can be derived again
// from the API.
import type { NodeView } from '../../machinery/api/node.ts';
import { splitKey } from '../../machinery/api/object-key.ts';
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import { isForHealth } from '../../machinery/api/taints.ts';
import type { Change } from '../../machinery/informer/informer.ts';
import { instantOf } from '../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import { forget, park, type WorkOutcome, WorkQueue } from '../../machinery/queueing/work-queue.ts';
import { batchedResync } from '../../machinery/supervision/batched-resync.ts';
import { WorkLoop } from '../../machinery/supervision/work-loop.ts';
import { retryLater } from '../model/decide-next-step.ts';
import type { CommandWriter, PodSource, WriteOutcome } from '../model/commands.ts';
import { evaluationFailed, type StayReason } from '../model/decisions.ts';
import type { WaitingPod } from '../model/waiting-pods.ts';
import { AcceptedDeletions } from './accepted-deletions.ts';
import { neverAsked } from './asked-time.ts';
import { boundSinceMs, isBinding, type ChangeSource, TaintClock } from './taint-clock.ts';
import { decideEviction, type EvictAt, type RunningTaint, selectCounting } from './decide-eviction.ts';
import { deleteAtOnce, RemovalPace, type RemovalRules, type RemovalWait, type Removal } from './removal-pace.ts';
import { EvictionHolds, type EvictionHoldsOptions, type HoldAnswer } from './eviction-holds.ts';
import { ParkedPods } from './parked-pods.ts';
import { PodEvaluations } from './pod-evaluations.ts';
import { cancellingDeletion } from './events.ts';
import { RemovalRequests } from './removal-requests.ts';
import { evictionsScheduled, podDeletionDuration, podDeletionsTotal } from './metrics.ts';
import type { TimedEviction } from './timed-eviction.ts';
import type { Now } from '../model/node-state.ts';
import { podsByNode } from '../model/indexes.ts';

const deletesAtOnceMax = 16;
const unwantedRecheckMs = 1_000;
/** Due pods processed in a row: each is evaluated against up to thousands of taints and tolerations. */
const dueInARow = 64;
interface TaintEvictorOptions extends EvictionHoldsOptions {
  /** How and when pods are removed. Absent: every pod that is due is deleted at once. */
  readonly removals?: RemovalRules;
  readonly pods: PodSource;
  /** Whether the newest version of this pod (`namespace/name`) could not be decoded. Absent: never. */
  readonly isUndecoded?: (pod: string) => boolean;
  /** When the complete state of pods in the cache was requested, if it is the most recent of that time. */
  readonly podListSentAtMs?: () => number | undefined;
  readonly writer: CommandWriter;
  /** Write slots of evictions. Absent: no limit. */
  readonly writesAtOnceMax?: number;
  readonly recorder: EventRecorder;
}

export class TaintEvictor {
  readonly #options: TaintEvictorOptions;
  readonly #taints = new TaintClock();
  readonly #holds: EvictionHolds;
  readonly #removal: RemovalPace;
  readonly #requests: RemovalRequests;
  /** Timed evictions, by `namespace/name`. */
  readonly #timed = new Map<string, TimedEviction>();
  readonly #queue = new WorkQueue();
  readonly #loop: WorkLoop;
  /** Tainted nodes found at the takeover; their pods are evaluated in batches. */
  readonly #batchedResync: WorkLoop;
  readonly #evaluations: PodEvaluations;
  readonly #accepted: AcceptedDeletions;
  readonly #parked: ParkedPods;
  /** Time of the takeover: existing times are interpreted relative to it, however late they are evaluated. */
  #tookOver: Now;

  constructor(options: TaintEvictorOptions) {
    this.#options = options;
    this.#holds = new EvictionHolds(options);
    this.#accepted = new AcceptedDeletions(options.podListSentAtMs);
    this.#tookOver = instantOf(this.#options.clock);
    this.#loop = new WorkLoop({
      queue: this.#queue,
      clock: options.clock,
      measured: { name: 'noexec_taint_pod', meter: options.meter },
      workersMax: deletesAtOnceMax,
      keysInARow: dueInARow,
      handle: (key) => this.#process(key),
      onFault: (key, error) => {
        this.#removal.backOff(key);
        options.decisions.note(evaluationFailed('taint eviction', key, error));
      },
    });
    this.#removal = new RemovalPace({
      ...options,
      rules: options.removals ?? deleteAtOnce,
      timed: this.#timed,
      requestsAtOnceMax: Math.min(deletesAtOnceMax, options.writesAtOnceMax ?? Infinity),
      wake: (key, afterMs) => this.#loop.add(key, afterMs),
      isQueued: (key) => this.#queue.has(key),
    });
    this.#requests = new RemovalRequests({
      ...options,
      pace: this.#removal,
      reasonGone: (pod, eviction, evictAt) => this.#isReasonGone(pod, eviction, evictAt),
    });
    this.#parked = new ParkedPods({
      holdOf: (node) => this.#holds.holdOfAll(node),
      wake: (key) => this.#loop.add(key),
      clock: options.clock,
    });
    this.#batchedResync = this.#makeBatchedResync();
    this.#evaluations = new PodEvaluations({
      ...options,
      evaluate: (pod) => this.#evaluate(pod, 'cache', instantOf(this.#options.clock)),
    });
  }

  #makeBatchedResync(): WorkLoop {
    const { clock, decisions } = this.#options;
    return batchedResync({
      clock,
      resync: (node) => this.#evaluatePodsOf(node, this.#tookOver),
      onFault: (node, error) => {
        decisions.note(evaluationFailed('taint eviction', node, error));
      },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const loops = [this.#batchedResync, this.#evaluations, this.#loop, this.#parked];
    await Promise.all(loops.map((loop) => loop.run(signal)));
  }

  /** Handles due evictions; for tests and tools without running loops. */
  async drain(): Promise<void> {
    for (const loop of [this.#batchedResync, this.#evaluations, this.#loop]) await loop.drain();
  }

  /**
   * Takes over leadership. Taints are known at once, so that no countdown starts late; only pods of tainted nodes are
   * evaluated, later: all pods of a large cluster together would take longer than the lease renewal may wait.
   */
  takeOver(nodes: Iterable<NodeView>): void {
    this.#tookOver = instantOf(this.#options.clock);
    for (const node of nodes) {
      if (this.#taints.observe(node, 'cache', this.#tookOver)) this.#batchedResync.add(node.name);
    }
  }

  /**
   * Evaluates a node and its pods from current state, as if an event had been missed. Without a change, nothing is
   * written, recorded or moved. Pods of a node without NoExecute taints are left to {@link sweep}.
   */
  resync(node: NodeView): void {
    const now = instantOf(this.#options.clock);
    const changed = this.#observeTaints(node, 'cache', now);
    if (changed || this.#taints.get(node.name).length > 0) this.#evaluatePodsOf(node.name, now);
  }

  /**
   * Checks all remembered state, one entry per step: timed evictions of pods or nodes that no longer exist are dropped,
   * others are evaluated again. To be run to its end, in any number of steps at a time.
   */
  *sweep(): Generator<undefined, void> {
    const { nodes, pods } = this.#options;
    for (const key of this.#timed.keys()) {
      this.#verify(key);
      yield;
    }
    yield* this.#accepted.sweep(
      (key) => pods.get(key),
      () => this.#options.clock.monotonicMs(),
    );
    for (const name of this.#taints.nodes()) {
      if (nodes.get(name) === undefined) this.#forgetNode(name);
      yield;
    }
    yield* this.#removal.sweep();
  }

  /** A hold by a policy or a pause may have ended, of this node or, if undefined, of any: due deletions are checked now. */
  recheckHeld(node?: string): void {
    this.#parked.wakeReleased(node);
    for (const key of this.#removal.waitingForTokens()) this.#loop.add(key);
  }

  /** Reason why a pod (`namespace/name`) whose deletion is due waits because of the policy of its node. */
  waitOf(pod: string): RemovalWait | undefined {
    return this.#removal.waitOf(pod);
  }

  /** Reason why a pod waits, in brief, at a constant cost. */
  waitingPod(pod: string): WaitingPod | undefined {
    return this.#removal.waitingPod(pod);
  }

  /** Every pod that waits because of the policy of its node, for a gauge. */
  waits(): Iterable<WaitingPod> {
    return this.#removal.waits();
  }

  /** Due times of all timed evictions, on the monotonic clock. */
  scheduled(): ReadonlyMap<string, number> {
    return new Map([...this.#timed].map(([key, { evictAt }]) => [key, evictAt.atMs]));
  }

  /** Each timed eviction with its due time on the monotonic clock, without a copy of all of them. */
  *timedEvictions(): Iterable<{ readonly pod: string; readonly node: string; readonly atMs: number }> {
    for (const [pod, { node, evictAt }] of this.#timed) yield { pod, node, atMs: evictAt.atMs };
  }

  /** Number of timed evictions. */
  get timedCount(): number {
    return this.#timed.size;
  }

  /**
   * When and why this pod (`namespace/name`) is to be deleted, on the monotonic clock; undefined: no eviction
   * scheduled.
   */
  timedEviction(pod: string): EvictAt | undefined {
    return this.#timed.get(pod)?.evictAt;
  }

  /** The NoExecute taints of a node, each with the start of its countdown. */
  runningTaints(node: string): readonly RunningTaint[] {
    return this.#taints.get(node);
  }

  /** Taints that count for a pod: no countdown starts before the pod is bound. */
  countdownsOf(pod: PodView): readonly RunningTaint[] {
    const all = this.#taints.get(pod.nodeName);
    if (all.length === 0) return all;
    const taints = selectCounting(all, this.#isRetained(pod));
    const boundMs = this.#timed.get(podKey(pod))?.boundMs ?? boundSinceMs(pod, 'cache', instantOf(this.#options.clock));
    return taints.map(({ taint, sinceMs }) => ({ taint, sinceMs: Math.max(sinceMs, boundMs) }));
  }

  /** Nodes of which pods are due and held, each with what holds them. */
  heldNodes(): ReturnType<ParkedPods['nodes']> {
    return this.#parked.nodes();
  }

  /** Number of pods of the largest collection. */
  get size(): number {
    const queued = Math.max(this.#queue.remembered, this.#evaluations.size);
    return Math.max(this.#timed.size, queued, this.#parked.size, this.#accepted.count, this.#removal.size);
  }

  /** Number of nodes whose taints are known. */
  get knownNodes(): number {
    return this.#taints.size;
  }

  /** Number of pods whose deletion was accepted and that are still in the cache. */
  get evictedCount(): number {
    return this.#accepted.count;
  }

  onNode(change: Change<NodeView>): void {
    const { name } = change.object;
    if (change.kind === 'deleted') return this.#forgetNode(name);
    const now = instantOf(this.#options.clock);
    if (this.#observeTaints(change.object, 'watch-event', now)) this.#evaluatePodsOf(name, now);
  }

  onPod(change: Change<PodView>): void {
    if (change.kind === 'deleted') return this.#forgetPod(change.key);
    this.#evaluate(change.object, isBinding(change) ? 'watch-event' : 'cache', instantOf(this.#options.clock));
  }

  /** Whether the taints changed: then what held the pods of the node may not hold them. */
  #observeTaints(node: NodeView, source: ChangeSource, now: Now): boolean {
    const changed = this.#taints.observe(node, source, now);
    if (changed) this.#parked.wakeAll(node.name);
    return changed;
  }

  #forgetNode(name: string): void {
    this.#taints.forget(name);
    for (const pod of this.#podsOf(name)) this.#cancel(pod, 'node-gone');
  }

  /** Evaluates the pods of a node at once, or in slices where that would delay the renewal of the lease. */
  #evaluatePodsOf(node: string, now: Now): void {
    const pods = this.#podsOf(node);
    if (!this.#evaluations.mayEvaluateNow(pods, this.#taints.get(node).length)) return;
    for (const pod of pods) this.#evaluate(pod, 'cache', now);
  }

  #podsOf(node: string): readonly PodView[] {
    return this.#options.pods.byIndex(podsByNode, node);
  }

  #evaluate(pod: PodView, source: ChangeSource, now: Now): void {
    this.#dropOther(pod);
    const isBeingDeleted = this.#accepted.isUnderWay(pod, this.#options.clock.monotonicMs());
    const taints = this.#taints.get(pod.nodeName);
    const known = this.#timed.get(podKey(pod));
    if (taints.length === 0 && known === undefined) return;
    const boundMs = known?.boundMs ?? boundSinceMs(pod, source, now);
    const decision = decideEviction(pod, {
      taints,
      boundMs,
      earlier: known?.isProvisional === true ? undefined : known?.evictAt,
      isRetained: this.#isRetained(pod),
    });
    if (decision.kind === 'stay') this.#cancel(pod, decision.why);
    else if (!isBeingDeleted) this.#schedule(pod, boundMs, decision);
  }

  #isRetained(pod: PodView): boolean {
    return (this.#options.removals ?? deleteAtOnce).isRetained(pod);
  }

  /** Drops state of another pod of the same name, or of this pod on another node. */
  #dropOther(pod: PodView): void {
    const key = podKey(pod);
    const known = this.#timed.get(key);
    if (known === undefined) return;
    if (known.uid !== pod.uid) this.#forgetPod(key);
    else if (known.node !== pod.nodeName) this.#cancel(pod, 'pod-moved');
  }

  /** Evaluates a timed eviction from current state, whatever events were received. */
  #verify(key: string): void {
    const { nodes, pods } = this.#options;
    const known = this.#timed.get(key);
    if (known === undefined) return;
    const pod = pods.get(key);
    if (pod === undefined) this.#forgetPod(key);
    else if (nodes.get(known.node) === undefined) this.#cancel(pod, 'node-gone');
    else this.#evaluate(pod, 'cache', instantOf(this.#options.clock));
  }

  /** Sets the deadline of the pod: its first, an earlier one, or a later one because a taint was removed. */
  #schedule(pod: PodView, boundMs: number, evictAt: EvictAt): void {
    const key = podKey(pod);
    const known = this.#timed.get(key);
    const inMs = Math.max(0, evictAt.atMs - this.#options.clock.monotonicMs());
    const isProvisional = this.#isProvisional(key, known);
    if (known === undefined || !isSameDeadline(known.evictAt, evictAt)) {
      const { uid, nodeName: node, resourceVersion } = pod;
      const created = {
        uid,
        node,
        boundMs,
        resourceVersion,
        evictAt,
        isProvisional,
        announced: false,
        asked: neverAsked,
      };
      this.#timed.set(key, { ...created, ...(known && this.#keptAtMove(pod, known, evictAt)) });
      if (inMs > 0) this.#noteScheduled(pod, evictAt, inMs);
      this.#loop.add(key, inMs);
      return this.#publish();
    }
    known.isProvisional = isProvisional;
    this.#ensureQueued(key, inMs);
  }

  /** Once its newest version was evaluated, it stays so: what comes later moves no deadline to a later time. */
  #isProvisional(key: string, known: TimedEviction | undefined): boolean {
    return known?.isProvisional !== false && this.#options.isUndecoded?.(key) === true;
  }

  /** What a moved deadline leaves as it was: also when the Eviction API may be asked again. A later one is announced again. */
  #keptAtMove(
    pod: PodView,
    known: TimedEviction,
    evictAt: EvictAt,
  ): Pick<TimedEviction, 'resourceVersion' | 'announced' | 'failed' | 'asked'> {
    const { resourceVersion, failed, announced } = known;
    const isLater = known.evictAt.atMs < evictAt.atMs;
    if (announced && isLater) this.#options.recorder.record(cancellingDeletion(pod));
    const asked = this.#removal.movedAsked(known, isLater);
    return { resourceVersion, failed, asked, announced: announced && !isLater };
  }

  /** A queued key, also one that waits for a retry, keeps its time, and a parked one waits for the end of what holds it. */
  #ensureQueued(key: string, inMs: number): void {
    if (!this.#queue.has(key) && !this.#parked.has(key)) this.#loop.add(key, inMs);
  }

  #noteScheduled(pod: PodView, { taint, toleratedSeconds }: EvictAt, inMs: number): void {
    const about = { pod: podKey(pod), node: pod.nodeName, taint, toleratedSeconds };
    this.#options.decisions.note({ kind: 'eviction-scheduled', ...about, inMs }, pod.uid);
  }

  /** Cancels a timed eviction, with an Event. */
  #cancel(pod: PodView, why: StayReason): void {
    const known = this.#timed.get(podKey(pod));
    if (known === undefined) return;
    const isOwnDeletion = why === 'already-terminating' && known.announced;
    if (isOwnDeletion) return; // the watch event came before the response to the deletion of this process
    if (why !== 'already-terminating') this.#options.recorder.record(cancellingDeletion(pod));
    this.#drop(podKey(pod), known, why);
  }

  /**
   * The pod no longer exists, which the watch may show before the response to a request of this process: that response says what
   * became of it. Otherwise its timed eviction is cancelled, with an Event if its deletion was not announced.
   */
  #forgetPod(key: string): void {
    this.#accepted.forget(key);
    const known = this.#timed.get(key);
    if (known === undefined) return;
    if (known.isSending === true) return this.#remove(key);
    const { namespace = '', name } = splitKey(key);
    if (!known.announced) this.#options.recorder.record(cancellingDeletion({ namespace, name }));
    this.#drop(key, known, 'pod-gone');
  }

  #drop(key: string, eviction: TimedEviction, why: StayReason): void {
    this.#remove(key);
    this.#noteCancelled(key, eviction, why);
  }

  #noteCancelled(key: string, { node, uid }: TimedEviction, why: StayReason): void {
    this.#options.decisions.note({ kind: 'eviction-cancelled', pod: key, node, why }, uid);
  }

  #remove(key: string): void {
    this.#timed.delete(key);
    this.#parked.remove(key);
    this.#removal.forget(key);
    this.#queue.remove(key);
    this.#publish();
  }

  /** A timed eviction is due: evaluates the pod again, then acts. */
  async #process(key: string): Promise<WorkOutcome> {
    const pod = this.#options.pods.get(key);
    this.#parked.remove(key);
    if (pod?.terminating === true) return this.#complete(key);
    this.#verify(key);
    const eviction = this.#timed.get(key);
    if (pod === undefined || eviction === undefined) return forget;
    const earlyMs = eviction.evictAt.atMs - this.#options.clock.monotonicMs();
    if (earlyMs <= 0) return this.#act(pod, eviction);
    this.#removal.backOff(key);
    return { next: 'requeue', afterMs: earlyMs };
  }

  /** The pod is already terminating, or was deleted. */
  #complete(key: string): WorkOutcome {
    this.#timed.delete(key);
    this.#removal.forget(key);
    this.#publish();
    return forget;
  }

  async #act(pod: PodView, eviction: TimedEviction): Promise<WorkOutcome> {
    const held = this.#holds.check(pod, eviction);
    this.#removal.noteAsking(eviction, held === 'free');
    if (held !== 'free') this.#removal.backOff(podKey(pod));
    const answer = held === 'free' ? this.#removal.tryEvict(pod, eviction) : { kind: 'wait' as const, ...held };
    if (answer.kind === 'go') return this.#evict(pod, eviction, answer);
    const other = this.#tryForOtherTaint(pod, eviction);
    if (other?.kind === 'go') return this.#evict(pod, eviction, other);
    if (other !== undefined) return { next: 'requeue', afterMs: other.checkAgainMs };
    return this.#waitFor(pod, eviction, held, answer.checkAgainMs);
  }

  #waitFor(pod: PodView, eviction: TimedEviction, held: HoldAnswer, checkAgainMs: number): WorkOutcome {
    const isOnlyForHealth = this.#taints.get(eviction.node).every(({ taint }) => isForHealth(taint));
    const untilChange = held === 'free' ? undefined : held.untilChange;
    // Only a mode or a pause holds the deletion for whatever taint.
    if (untilChange !== undefined && (isOnlyForHealth || this.#holds.isHeldByPolicy(eviction))) {
      this.#parked.park(podKey(pod), eviction.node, untilChange);
      return park;
    }
    return { next: 'requeue', afterMs: isOnlyForHealth ? checkAgainMs : Math.min(checkAgainMs, 1_000) };
  }

  #tryForOtherTaint(pod: PodView, eviction: TimedEviction): ReturnType<RemovalPace['tryOther']> | undefined {
    const due = this.#dueForOtherTaint(pod, eviction);
    return due && this.#removal.tryOther(pod, due);
  }

  /** A deletion that waits for the health of the node may be due for a taint of another client. */
  #dueForOtherTaint(pod: PodView, eviction: TimedEviction): EvictAt | undefined {
    if (this.#holds.isHeldByPolicy(eviction)) return undefined;
    const { node, boundMs } = eviction;
    const taints = this.#taints.get(node).filter(({ taint }) => !isForHealth(taint));
    const decision = decideEviction(pod, { taints, boundMs });
    if (decision.kind === 'stay' || decision.atMs > this.#options.clock.monotonicMs()) return undefined;
    return this.#holds.checkOther(pod, eviction, decision) === 'free' ? decision : undefined;
  }

  async #evict(pod: PodView, eviction: TimedEviction, removal: Removal): Promise<WorkOutcome> {
    const outcome = await this.#requests.send(pod, eviction, removal);
    if (this.#isGoneOtherwise(pod, outcome)) this.#noteCancelled(podKey(pod), eviction, 'pod-gone');
    return outcome === 'reason-gone' ? { next: 'requeue', afterMs: 0 } : this.#after(pod, removal, outcome);
  }

  /** The pod was removed, and not by this request. */
  #isGoneOtherwise(pod: PodView, outcome: WriteOutcome | 'reason-gone'): boolean {
    const result = outcome === 'reason-gone' ? outcome : outcome.result;
    if (result === 'written') return false;
    return result === 'gone' || this.#options.pods.get(podKey(pod))?.uid !== pod.uid;
  }

  /**
   * Whether the eviction was cancelled or moved, a policy keeps the pod, or a hold applies. A version that the answer to a request
   * has shown, and the watch has not, is evaluated here: the request is about it.
   */
  #isReasonGone(pod: PodView, eviction: TimedEviction, evictAt: EvictAt): boolean {
    this.#evaluations.catchUp(podKey(pod));
    const newest = this.#options.pods.get(podKey(pod)) ?? pod;
    if (newest.uid === pod.uid && newest.resourceVersion !== pod.resourceVersion)
      this.#evaluate(newest, 'cache', instantOf(this.#options.clock));
    if (evictAt.forHealth && this.#isRetained(newest)) return true;
    return this.#timed.get(podKey(pod)) !== eviction || this.#holds.reasonFor(eviction, evictAt) !== undefined;
  }

  #after(pod: PodView, { by, evictAt }: Removal, outcome: WriteOutcome): WorkOutcome {
    if (outcome.result === 'failed') return by === 'evict' ? retryEviction(outcome) : retryLater(outcome);
    if (outcome.result === 'not-leader') return forget;
    if (outcome.result === 'refused') return { next: 'requeue', afterMs: 0 };
    if (outcome.result === 'unwanted' || outcome.result === 'held')
      return { next: 'requeue', afterMs: unwantedRecheckMs };
    if (outcome.result === 'written') this.#count(pod, evictAt);
    return this.#timed.get(podKey(pod))?.uid === pod.uid ? this.#complete(podKey(pod)) : forget;
  }

  #count(pod: PodView, { atMs, taint, toleratedSeconds }: EvictAt): void {
    const { pods, meter, decisions, clock } = this.#options;
    const key = podKey(pod);
    // The watch may have delivered the deletion before the response: then nothing needs to be remembered.
    if (pods.get(key)?.uid === pod.uid) this.#accepted.add(pod, clock.monotonicMs());
    meter.add(podDeletionsTotal, 1);
    meter.observe(podDeletionDuration, Math.max(0, clock.monotonicMs() - atMs) / 1_000);
    decisions.note({ kind: 'pod-evicted', pod: key, node: pod.nodeName, taint, toleratedSeconds }, pod.uid);
  }

  #publish(): void {
    this.#options.meter.set(evictionsScheduled, this.#timed.size);
  }
}

/** The time of the next request to the Eviction API is kept with the eviction, except after an abort. */
function retryEviction(outcome: Extract<WriteOutcome, { result: 'failed' }>): WorkOutcome {
  return outcome.reason === 'aborted' ? retryLater(outcome) : { next: 'requeue', afterMs: 0 };
}

function isSameDeadline(a: EvictAt, b: EvictAt): boolean {
  return a.atMs === b.atMs && a.taint === b.taint && a.forHealth === b.forHealth;
}
