// Deletes pods that no other component deletes: a round checks all pods, rule by rule. A failure is retried in the next
// round; between rounds only missing nodes are remembered, and since when.
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import type { StoreReader } from '../../machinery/informer/informer.ts';
import { hangs } from '../../machinery/queueing/hanging-groups.ts';
import { every } from '../../machinery/supervision/every.ts';
import { type DisruptionWords, isUnpatchable, type WriteOutcome } from '../model/commands.ts';
import type { PodGcReason } from '../model/decisions.ts';
import { evidenceAbout, type LiveNode } from '../model/live-node.ts';
import type { PodGcOptions } from '../model/options.ts';
import { decideCollection, fallsUnder, mustFailFirst, decideTerminated, type NodeLookup } from './decide-collection.ts';
import { forceDeletedPods, forceDeleteErrors } from './metrics.ts';
import { OrphanQuarantine } from './orphan-quarantine.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { StageDependencies } from '../model/dependencies.ts';

/** Time from the end of one round to the start of the next (upstream `gcCheckPeriod`). */
const roundPeriodMs = 20_000;
/** How long a node must be missing before it is read live (upstream `quarantineTime`). */
const quarantineMsDefault = 40_000;
const deletesAtOnceMax = 16;
/** Missing nodes that could not be read in one round; the others wait for the next round. */
const unreadableMax = 3;
/**
 * Requests that hang in one step; then the pods of their namespaces, and those whose last request hung, wait for the next round, and after
 * as many again all others.
 */
const hangingMax = 32;

/** Steps of a round, in their order. */
const steps: readonly PodGcReason[] = ['terminated', 'out-of-service', 'orphaned', 'unscheduled'];

const deletedByPodGc: DisruptionWords = { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' };

const keptBecause = { 'not-permitted': 'not-permitted', unreadable: 'api-not-answering' } as const;

export interface PodGarbageCollectorOptions extends StageDependencies {
  readonly podGc: Live<PodGcOptions>;
  readonly pods: Pick<StoreReader<PodView>, 'get' | 'values'>;
  /** The node as read live, at most `evidenceMs` ago and by a request sent since this time. Must not reject. */
  readonly readNode: (name: string, sentSinceMs: number) => Promise<LiveNode>;
  /** Lists nodes again: a node exists that the cache does not have. */
  readonly relistNodes: () => void;
  /** Absent: 40 s. Negative: none. */
  readonly quarantineMs?: number;
}

interface Round {
  /** Attempts of the round, by uid, and whether each is settled: a pod under two rules is tried once. */
  readonly settled: Map<string, boolean>;
  /** The namespaces of the requests that hung in this step. */
  readonly hung: string[];
  readonly signal: AbortSignal | undefined;
  /** When the pods of this step were chosen. A node that was read before may have registered, and got them, since. */
  readonly chosenAtMs: number;
}

/** Checks all pods of the cluster. Rounds must not overlap; caches must be synced. */
export class PodGarbageCollector {
  readonly #options: PodGarbageCollectorOptions;
  readonly #quarantine: OrphanQuarantine;
  /** When the last request about a pod hung, by uid. */
  readonly #hungMs = new Map<string, number>();
  readonly #nodeOf: NodeLookup;
  #nextRoundAtMs: number | undefined;

  constructor(options: PodGarbageCollectorOptions) {
    this.#options = options;
    this.#quarantine = new OrphanQuarantine(options.quarantineMs ?? quarantineMsDefault);
    this.#nodeOf = (name) => options.nodes.get(name);
  }

  /** A round at once and then every 20 s, until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    return every(roundPeriodMs, clock, signal, async () => {
      await this.pass(signal);
      this.#nextRoundAtMs = clock.monotonicMs() + roundPeriodMs;
    });
  }

  /** One round of all steps (upstream `gc`). Starts nothing new once the signal has aborted. */
  pass(signal?: AbortSignal): Promise<void> {
    return this.#round(steps, signal);
  }

  /** A single step of a round. */
  step(why: PodGcReason): Promise<void> {
    return this.#round([why], undefined);
  }

  /** The first round at or after this time, assuming that rounds take no time. */
  roundFromMs(atMs: number): number {
    const nextMs = this.#nextRoundAtMs ?? this.#options.clock.monotonicMs();
    return nextMs + Math.max(0, Math.ceil((atMs - nextMs) / roundPeriodMs)) * roundPeriodMs;
  }

  /** When the quarantine of this missing node ends; one that has not begun starts with the next round. */
  quarantineEndsAtMs(node: string): number {
    const { quarantineMs = quarantineMsDefault } = this.#options;
    return this.#quarantine.endsAtMs(node) ?? this.roundFromMs(-Infinity) + quarantineMs;
  }

  /** Number of nodes that pods are bound to and that do not exist. */
  get missingNodes(): number {
    return this.#quarantine.size;
  }

  /** Missing nodes whose quarantine has ended; they are read live in the next round. */
  outOfQuarantine(): readonly string[] {
    return this.#quarantine.due(this.#options.clock.monotonicMs());
  }

  async #round(wanted: readonly PodGcReason[], signal: AbortSignal | undefined): Promise<void> {
    const settled = new Map<string, boolean>();
    for (const why of wanted) {
      const round: Round = { settled, hung: [], signal, chosenAtMs: this.#options.clock.monotonicMs() };
      if (why === 'terminated') await this.#collectTerminated(round);
      else if (why === 'orphaned') await this.#collectOrphaned(round);
      else await this.#collectAll(decideCollection(why, this.#options.pods.values(), this.#nodeOf), why, round);
    }
    this.#forgetHung();
  }

  async #collectTerminated(round: Round): Promise<void> {
    const { pods, decisions, podGc, clock } = this.#options;
    const options = podGc.current();
    const { terminated, beyond, ...surplus } = decideTerminated(pods.values(), options, clock.nowMs());
    if (surplus.pods.length === 0) return;
    const threshold = options.terminatedPodGcThreshold;
    const others = {
      ...(beyond.perNode > 0 && { perNode: beyond.perNode }),
      ...(beyond.age > 0 && { aged: beyond.age }),
    };
    decisions.note({ kind: 'terminated-pods-surplus', terminated, threshold, ...others });
    await this.#collectAll(surplus.pods, 'terminated', round);
  }

  async #collectOrphaned(round: Round): Promise<void> {
    const orphans = decideCollection('orphaned', this.#options.pods.values(), this.#nodeOf);
    const byNode = Map.groupBy(orphans, (pod) => pod.nodeName);
    this.#quarantineMissing(byNode);
    let unreadable = 0;
    for (const node of this.outOfQuarantine()) {
      if (round.signal?.aborted === true || unreadable >= unreadableMax) return;
      const live = await this.#collectOrphansOf(node, byNode.get(node) ?? [], round);
      if (live === 'unreadable') unreadable += 1;
    }
  }

  #quarantineMissing(orphans: ReadonlyMap<string, readonly PodView[]>): void {
    const { decisions, clock, nodes, quarantineMs = quarantineMsDefault } = this.#options;
    const { entered, left } = this.#quarantine.observe(new Set(orphans.keys()), clock.monotonicMs());
    for (const node of entered) {
      const pods = orphans.get(node)?.length ?? 0;
      decisions.note({ kind: 'node-missing', node, pods, quarantineMs: Math.max(0, quarantineMs) });
    }
    const back = left.filter((node) => nodes.get(node) !== undefined);
    for (const node of back) decisions.note({ kind: 'orphans-kept', node, why: 'node-back' });
  }

  /**
   * Each node is read live right before its pods are deleted. Without a response, or after a failed deletion: next
   * round.
   */
  async #collectOrphansOf(node: string, orphans: readonly PodView[], round: Round): Promise<LiveNode> {
    const live = await this.#options.readNode(node, round.chosenAtMs);
    const hungBefore = round.hung.length;
    if (live !== 'gone') this.#keepOrphans(node, live);
    else if (await this.#collectAll(orphans, 'orphaned', round)) this.#quarantine.release(node);
    // Those of other nodes are tried before them in the next round.
    else if (round.hung.length > hungBefore) this.#quarantine.moveBack(node, this.#options.clock.monotonicMs());
    return live;
  }

  #keepOrphans(node: string, live: Exclude<LiveNode, 'gone'>): void {
    const { decisions, clock, nodes, relistNodes } = this.#options;
    const nowMs = clock.monotonicMs();
    if (typeof live === 'object') {
      // Missing for the whole quarantine: the watch may never deliver it.
      if (nodes.get(node) === undefined) relistNodes();
      this.#quarantine.restart(node, nowMs);
      decisions.note({ kind: 'orphans-kept', node, why: 'node-found' });
      return;
    }
    this.#quarantine.moveBack(node, nowMs);
    decisions.note({ kind: 'orphans-kept', node, why: keptBecause[live] });
  }

  /** Deletes these pods, a bounded number at a time. Returns whether all are settled. */
  async #collectAll(pods: readonly PodView[], why: PodGcReason, round: Round): Promise<boolean> {
    const waiting = this.#hungLast(pods.filter((pod) => !round.settled.has(pod.uid))).values();
    const worker = async (): Promise<void> => {
      for (const pod of waiting) {
        if (round.signal?.aborted === true) return;
        if (this.#waitsForNextRound(pod, round)) continue;
        round.settled.set(pod.uid, await this.#collect(pod, why, round));
      }
    };
    await Promise.all(Array.from({ length: deletesAtOnceMax }, worker));
    return pods.every((pod) => round.settled.get(pod.uid) === true);
  }

  /** Pods whose last request hung come last, the longest ago first: so each pod is tried, however many hang. */
  #hungLast(pods: readonly PodView[]): readonly PodView[] {
    if (this.#hungMs.size === 0) return pods;
    const hungMs = ({ uid }: PodView): number => this.#hungMs.get(uid) ?? -Infinity;
    const hanging = pods.filter(({ uid }) => this.#hungMs.has(uid)).toSorted((a, b) => hungMs(a) - hungMs(b));
    return [...pods.filter(({ uid }) => !this.#hungMs.has(uid)), ...hanging];
  }

  /** A webhook that hangs for the pods of one namespace does not hold up the other steps of the round. */
  #waitsForNextRound({ namespace, uid }: PodView, { hung }: Round): boolean {
    if (hung.length < hangingMax) return false;
    return hung.length >= 2 * hangingMax || this.#hungMs.has(uid) || hung.includes(namespace);
  }

  /** Pods that exist are remembered: of many that hang, the first would else be tried again before the last. */
  #forgetHung(): void {
    if (this.#hungMs.size === 0) return;
    const gone = new Set(this.#hungMs.keys());
    for (const { uid } of this.#options.pods.values()) gone.delete(uid);
    for (const uid of gone) this.#hungMs.delete(uid);
  }

  /** Evaluates the pod again, as time may have passed. Returns whether it is settled. */
  async #collect(chosen: PodView, why: PodGcReason, round: Round): Promise<boolean> {
    if (!(await this.#appliesLive(chosen, why, round))) return false;
    const pod = this.#options.pods.get(podKey(chosen));
    if (pod === undefined || !this.#isCollectable(chosen, why)) return true;
    const sentAtMs = this.#options.clock.monotonicMs();
    const outcome = await this.#failAndDelete(pod, why);
    this.#noteDuration(pod, outcome, sentAtMs, round);
    const { result } = outcome;
    const labels = { namespace: pod.namespace, reason: why };
    // `aborted`: not sent, because leadership is paused or lost.
    const isError = outcome.result === 'failed' && outcome.reason !== 'aborted';
    if (isError) this.#options.meter.add(forceDeleteErrors, 1, labels);
    if (result === 'written') {
      this.#options.meter.add(forceDeletedPods, 1, labels);
      this.#options.decisions.note({ kind: 'pod-collected', pod: podKey(pod), node: pod.nodeName, why }, pod.uid);
    }
    return result !== 'failed' && result !== 'not-leader' && result !== 'held';
  }

  /** A request that was done did not hang: it may have waited for others of this process. */
  #noteDuration({ namespace, uid }: PodView, outcome: WriteOutcome, sentAtMs: number, { hung }: Round): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (outcome.result !== 'failed' || !hangs(nowMs - sentAtMs)) return void this.#hungMs.delete(uid);
    this.#hungMs.set(uid, nowMs);
    hung.push(namespace);
  }

  /**
   * A pod is deleted because of its node only if a recent live read of the node agrees: the cache of nodes may be
   * behind, and a deletion without a grace period does not wait for a kubelet that is back. Where reading nodes is not
   * permitted, the cached node decides.
   */
  async #appliesLive(pod: PodView, why: PodGcReason, { chosenAtMs }: Round): Promise<boolean> {
    if (why !== 'orphaned' && why !== 'out-of-service') return true;
    const read = await this.#options.readNode(pod.nodeName, chosenAtMs);
    const live = evidenceAbout(this.#options.nodes.get(pod.nodeName), read);
    if (live === 'not-permitted') return why === 'out-of-service';
    return live !== 'unreadable' && fallsUnder(why, pod, () => (live === 'gone' ? undefined : live));
  }

  #isCollectable({ namespace, name, uid }: PodView, why: PodGcReason): boolean {
    const pod = this.#options.pods.get(podKey({ namespace, name }));
    return pod?.uid === uid && fallsUnder(why, pod, this.#nodeOf);
  }

  /** Upstream `markFailedAndDeletePodWithCondition`. */
  async #failAndDelete(pod: PodView, why: PodGcReason): Promise<WriteOutcome> {
    const { writer, clock } = this.#options;
    const stillWanted = (): boolean => this.#isCollectable(pod, why);
    // Finished and unbound pods are not collected because of a node.
    const regardlessOfNode = why === 'terminated' || why === 'unscheduled';
    const failsFirst = mustFailFirst(pod);
    if (failsFirst) {
      const disruption = why === 'orphaned' ? deletedByPodGc : undefined;
      const marked = await writer.carryOut(
        { kind: 'mark-pod-failed', pod, atMs: clock.nowMs(), disruption, regardlessOfNode },
        stillWanted,
      );
      if (marked.result !== 'written' && !isUnpatchable(marked)) return marked;
    }
    const deletion = {
      kind: 'delete-pod',
      pod,
      gracePeriodSeconds: 0,
      lane: 'housekeeping',
      regardlessOfNode,
      onlyThisVersion: why === 'terminated' && !failsFirst,
    } as const;
    return writer.carryOut(deletion, stillWanted);
  }
}
