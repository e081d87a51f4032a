// Takes away the pods that nobody else will: a round looks at all of them, rule by rule. What fails is met again in the
// next round, because a round remembers nothing but which nodes have been missing, and since when.
import { podKey, type PodView } from '../../api/pod.ts';
import type { StoreReader } from '../../informer/informer.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import { every } from '../../supervision/every.ts';
import type { CommandWriter, DisruptionWords, NodeSource, WriteOutcome } from '../commands.ts';
import type { DecisionSink, PodGcReason } from '../decisions.ts';
import type { PodGcOptions } from '../options.ts';
import { decideCollection, fallsUnder, mustFailFirst, decideTerminated, type NodeLookup } from './decide-collection.ts';
import { forceDeletedPods, forceDeleteErrors } from './metrics.ts';
import type { NodePresence } from './node-presence.ts';
import { OrphanQuarantine } from './orphan-quarantine.ts';

/** From the end of one round to the next (upstream `gcCheckPeriod`). */
const roundPeriodMs = 20_000;
/** How long a node must be missing before anybody asks whether it is gone (upstream `quarantineTime`). */
const quarantineMsDefault = 40_000;
const deletesAtOnceMax = 16;

/** In the order of a round. */
const steps: readonly PodGcReason[] = ['terminated', 'out-of-service', 'orphaned', 'unscheduled'];

const deletedByPodGc: DisruptionWords = { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' };

const keptBecause = { found: 'node-found', refused: 'not-permitted', unknown: 'api-not-answering' } as const;

export interface PodGarbageCollectorOptions extends PodGcOptions {
  readonly pods: Pick<StoreReader<PodView>, 'get' | 'values'>;
  readonly nodes: NodeSource;
  /** Asks the API server itself. Must not reject. */
  readonly readNode: (name: string) => Promise<NodePresence>;
  readonly writer: CommandWriter;
  readonly decisions: DecisionSink;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Absent: 40 s. Negative: none. */
  readonly quarantineMs?: number;
}

/** What one round has tried, by uid, and whether that is settled: a pod under two rules is tried once. */
interface Round {
  readonly settled: Map<string, boolean>;
  readonly signal: AbortSignal | undefined;
}

/** Looks at all pods of the cluster. Rounds must not overlap; caches must be in sync. */
export class PodGarbageCollector {
  readonly #options: PodGarbageCollectorOptions;
  readonly #quarantine: OrphanQuarantine;
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

  /** One round of all steps (upstream `gc`). Begins nothing new once the signal has aborted. */
  pass(signal?: AbortSignal): Promise<void> {
    return this.#round(steps, signal);
  }

  /** One step of a round by itself. */
  step(why: PodGcReason): Promise<void> {
    return this.#round([why], undefined);
  }

  /** The first round at this moment or later, if rounds take no time. */
  roundFromMs(atMs: number): number {
    const nextMs = this.#nextRoundAtMs ?? this.#options.clock.monotonicMs();
    return nextMs + Math.max(0, Math.ceil((atMs - nextMs) / roundPeriodMs)) * roundPeriodMs;
  }

  /** When the quarantine of this missing node ends; one that has not begun begins with the next round. */
  quarantineEndsAtMs(node: string): number {
    const { quarantineMs = quarantineMsDefault } = this.#options;
    return this.#quarantine.endsAtMs(node) ?? this.roundFromMs(-Infinity) + quarantineMs;
  }

  /** Nodes that pods are bound to and that are not known. */
  get missingNodes(): number {
    return this.#quarantine.size;
  }

  /** Missing nodes that have waited long enough and are asked about in the next round. */
  outOfQuarantine(): readonly string[] {
    return this.#quarantine.due(this.#options.clock.monotonicMs());
  }

  async #round(wanted: readonly PodGcReason[], signal: AbortSignal | undefined): Promise<void> {
    const round: Round = { settled: new Map(), signal };
    for (const why of wanted) {
      if (why === 'terminated') await this.#collectTerminated(round);
      else if (why === 'orphaned') await this.#collectOrphaned(round);
      else await this.#collectAll(decideCollection(why, this.#options.pods.values(), this.#nodeOf), why, round);
    }
  }

  async #collectTerminated(round: Round): Promise<void> {
    const { pods, decisions, terminatedPodGcThreshold: threshold } = this.#options;
    const surplus = decideTerminated(pods.values(), threshold);
    if (surplus.pods.length === 0) return;
    decisions.note({ kind: 'terminated-pods-surplus', terminated: surplus.terminated, threshold });
    await this.#collectAll(surplus.pods, 'terminated', round);
  }

  async #collectOrphaned(round: Round): Promise<void> {
    const orphans = decideCollection('orphaned', this.#options.pods.values(), this.#nodeOf);
    const byNode = Map.groupBy(orphans, (pod) => pod.nodeName);
    this.#quarantineMissing(byNode);
    for (const node of this.outOfQuarantine()) {
      if (round.signal?.aborted === true) return;
      await this.#collectOrphansOf(node, byNode.get(node) ?? [], round);
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

  /** Each node is asked about right before its pods go. No answer, or a failed deletion: again in the next round. */
  async #collectOrphansOf(node: string, orphans: readonly PodView[], round: Round): Promise<void> {
    const presence = await this.#options.readNode(node);
    if (presence !== 'gone') return this.#keepOrphans(node, presence);
    if (await this.#collectAll(orphans, 'orphaned', round)) this.#quarantine.release(node);
  }

  #keepOrphans(node: string, presence: Exclude<NodePresence, 'gone'>): void {
    const { decisions, clock } = this.#options;
    if (presence === 'found') this.#quarantine.restart(node, clock.monotonicMs());
    decisions.note({ kind: 'orphans-kept', node, why: keptBecause[presence] });
  }

  /** Takes these pods away, a bounded number at a time. Says whether nothing of it is left to do. */
  async #collectAll(pods: readonly PodView[], why: PodGcReason, round: Round): Promise<boolean> {
    const waiting = pods.filter((pod) => !round.settled.has(pod.uid)).values();
    const worker = async (): Promise<void> => {
      for (const pod of waiting) {
        if (round.signal?.aborted === true) return;
        round.settled.set(pod.uid, await this.#collect(pod, why));
      }
    };
    await Promise.all(Array.from({ length: deletesAtOnceMax }, worker));
    return pods.every((pod) => round.settled.get(pod.uid) === true);
  }

  /** Looks once more, as its turn may have come late. Says whether the pod is settled. */
  async #collect(chosen: PodView, why: PodGcReason): Promise<boolean> {
    const pod = this.#options.pods.get(podKey(chosen));
    if (pod === undefined || pod.uid !== chosen.uid || !fallsUnder(why, pod, this.#nodeOf)) return true;
    const { result } = await this.#failAndDelete(pod, why);
    const labels = { namespace: pod.namespace, reason: why };
    if (result === 'failed') this.#options.meter.add(forceDeleteErrors, 1, labels);
    if (result === 'written') {
      this.#options.meter.add(forceDeletedPods, 1, labels);
      this.#options.decisions.note({ kind: 'pod-collected', pod: podKey(pod), node: pod.nodeName, why });
    }
    return result === 'written' || result === 'gone';
  }

  /** Upstream `markFailedAndDeletePodWithCondition`. */
  async #failAndDelete(pod: PodView, why: PodGcReason): Promise<WriteOutcome> {
    const { writer, clock } = this.#options;
    if (mustFailFirst(pod)) {
      const disruption = why === 'orphaned' ? deletedByPodGc : undefined;
      const marked = await writer.carryOut({ kind: 'mark-pod-failed', pod, atMs: clock.nowMs(), disruption });
      if (marked.result !== 'written') return marked;
    }
    return writer.carryOut({ kind: 'delete-pod', pod, gracePeriodSeconds: 0 });
  }
}
