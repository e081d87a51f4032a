import { ApiError } from '../../machinery/api/api-error.ts';
import type { LeaseView } from '../../machinery/api/lease.ts';
import type { MutationCache } from '../../machinery/informer/mutation-cache.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Freshness } from '../model/freshness.ts';
import type { LeaseRead, LiveLeases } from '../../machinery/ports/leases.ts';
import type { DecisionSink, UnconfirmedReason } from '../model/decisions.ts';
import type { ControllerOptions } from '../model/options.ts';
import type { LeaseLoss } from './lease-loss.ts';
import type { HealthTransitions } from './health-transitions.ts';
import type { Live } from '../../machinery/ports/live.ts';

/**
 * Maximum number of single reads in flight. Above it, one list of all leases costs the API server less than single
 * requests.
 */
const singleReadsMax = 10;
/** A lease without a response after this time counts as not read, whatever happens to the request. */
export const answerMsMax = 30_000;
/** Time limit for single reads after a failed list: none starts later. The remaining leases count as not read. */
const singlesMsMax = 20_000;

/** A node that looks silent, and the last heartbeat that is known of it. */
export interface Suspect {
  readonly node: string;
  readonly heartbeatAtMs: number;
}

/**
 * Result of a live read for a suspect. `silent`: the API server has no later heartbeat than `heartbeatAtMs`, the value
 * at the time of the request. `renewed`: it has. `unconfirmed`: the lease could not be read, or is missing as most are, and the node is held.
 */
export type SilenceAnswer = Suspect & { readonly found: 'silent' | 'renewed' | 'unconfirmed' };

interface SilenceConfirmerOptions {
  readonly live: Pick<LiveLeases, 'readOne' | 'readAll'>;
  readonly leases: MutationCache<LeaseView>;
  readonly loss: Pick<LeaseLoss, 'evaluate' | 'forget' | 'size'>;
  /** The longest hold of a node whose lease cannot be read; read at each result. */
  readonly options: Live<Pick<ControllerOptions, 'leaseConfirmationHoldMs'>>;
  /** The watch of leases: while it is fresh, the cache is evidence where a lease cannot be read. */
  readonly freshness: Pick<Freshness, 'staleness'> & { foundBehind(): void };
  readonly transitions: Pick<HealthTransitions, 'withhold'>;
  readonly decisions: DecisionSink;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Triggered when results are available. */
  readonly alarm: { wakeUp(): void };
}

interface Hold {
  readonly why: UnconfirmedReason;
  readonly sinceMs: number;
  /** The hold is over, and the leases are listed: a list may succeed where the read of this lease fails. */
  isLastRead?: boolean;
}

/**
 * Before a node is marked Unknown its lease is read live: the watch may be behind, or dead without an error. Each lease
 * is handled separately. One that cannot be read holds its node, for a bounded time; then all leases are listed, and if
 * that fails too a fresh cache is sufficient evidence, as it is for kube-controller-manager.
 */
export class SilenceConfirmer {
  readonly #options: SilenceConfirmerOptions;
  /** Deadline for the result of each node; a later read is a new one. */
  readonly #pending = new Map<string, number>();
  readonly #waiting = new Map<string, number>();
  readonly #reads = new Set<Promise<void>>();
  readonly #holds = new Map<string, Hold>();
  /** The first read that was forbidden, while nodes are held: a missing permission counts once for all of them. */
  #forbiddenSinceMs: number | undefined;
  #singles = 0;
  /** The nodes for which all leases are being listed. */
  #listing: ReadonlySet<string> | undefined;
  #answers: SilenceAnswer[] = [];

  constructor(options: SilenceConfirmerOptions) {
    this.#options = options;
  }

  /**
   * Starts reads for suspects without a read in flight. Results are taken later. A read without a response in time gets
   * its result here: no slow read holds a node longer than one that fails.
   */
  confirm(suspects: readonly Suspect[]): void {
    const nowMs = this.#nowMs();
    for (const suspect of suspects) {
      const { node, heartbeatAtMs } = suspect;
      const untilMs = this.#pending.get(node);
      if (untilMs !== undefined && untilMs > nowMs) continue;
      if (untilMs !== undefined && this.#giveUp(suspect)) continue;
      this.#pending.set(node, nowMs + answerMsMax);
      this.#waiting.set(node, heartbeatAtMs);
    }
    this.#startReads();
  }

  /** The results since the last call. */
  takeAnswers(): readonly SilenceAnswer[] {
    const answers = this.#answers;
    this.#answers = [];
    return answers;
  }

  /** Nodes that looked silent when a result was asked for, and whose result is not there or was not in time. */
  suspects(): Iterable<string> {
    return this.#pending.keys();
  }

  /** The node sent a heartbeat, or no longer exists. */
  forget(node: string): void {
    this.#endHold(node);
    this.#options.loss.forget(node);
    this.#waiting.delete(node);
    this.#pending.delete(node);
  }

  /** One rejected read is no evidence for silences that begin after the last of its time has ended. */
  #endHold(node: string): void {
    this.#holds.delete(node);
    if (this.#holds.size === 0) this.#forbiddenSinceMs = undefined;
  }

  /** Number of entries of the largest collection. */
  get size(): number {
    const { loss } = this.#options;
    return Math.max(this.#pending.size, this.#waiting.size, this.#holds.size, this.#answers.length, loss.size);
  }

  /** Resolves when no read is in flight. */
  async settled(): Promise<void> {
    while (this.#reads.size > 0) await Promise.all(this.#reads);
  }

  /**
   * Counts the lease as not read, for at most {@link answerMsMax}: this process may have been stopped meanwhile.
   * Returns whether that settles it, as a fresh cache does after the hold.
   */
  #giveUp(suspect: Suspect): boolean {
    if (this.#answer(suspect, notReadInTime(), this.#nowMs() - answerMsMax) !== 'silent') return false;
    this.#waiting.delete(suspect.node);
    return true;
  }

  #startReads(): void {
    if (this.#waiting.size === 0 || this.#listing !== undefined) return;
    const suspects = [...this.#waiting].map(([node, heartbeatAtMs]) => ({ node, heartbeatAtMs: heartbeatAtMs }));
    const isLastRead = suspects.some(({ node }) => this.#holds.get(node)?.isLastRead === true);
    const single = !isLastRead && this.#singles + suspects.length <= singleReadsMax;
    this.#waiting.clear();
    if (single) for (const suspect of suspects) this.#track(this.#readOne(suspect));
    else this.#track(this.#readAll(suspects, isLastRead));
  }

  #track(read: Promise<void>): void {
    const tracked = read.finally(() => this.#reads.delete(tracked));
    this.#reads.add(tracked);
  }

  async #readOne(suspect: Suspect): Promise<void> {
    this.#singles += 1;
    try {
      this.#answer(suspect, await this.#options.live.readOne(suspect.node));
    } finally {
      this.#singles -= 1;
      this.#startReads();
    }
  }

  /**
   * If the list fails, each lease is read separately, in batches, as long as reads succeed; at once, as those do not need the
   * watch cache of the API server, unless the list is the last read after failed ones.
   */
  async #readAll(suspects: readonly Suspect[], isLastRead: boolean): Promise<void> {
    this.#listing = new Set(suspects.map(({ node }) => node));
    try {
      const live = await this.#options.live.readAll(isLastRead ? undefined : { waitMsMax: 0 });
      for (const suspect of suspects) {
        this.#answer(suspect, live.get(suspect.node) ?? { kind: 'missing' });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      await this.#readEach(suspects, error);
    } finally {
      this.#listing = undefined;
      this.#startReads();
    }
  }

  /** {@link singleReadsMax} at a time, until that many in a row have failed or {@link singlesMsMax} has passed. */
  async #readEach(suspects: readonly Suspect[], listError: ApiError): Promise<void> {
    const untilMs = this.#nowMs() + singlesMsMax;
    const left = suspects.values();
    let failures = 0;
    const readNext = async (suspect: Suspect): Promise<LeaseRead> => {
      if (failures >= singleReadsMax) return { kind: 'unreadable', error: listError };
      if (this.#nowMs() >= untilMs) return notReadInTime();
      const read = await this.#options.live.readOne(suspect.node);
      failures = read.kind === 'unreadable' ? failures + 1 : 0;
      return read;
    };
    const worker = async (): Promise<void> => {
      for (const suspect of left) this.#answer(suspect, await readNext(suspect));
    };
    await Promise.all(Array.from({ length: singleReadsMax }, worker));
  }

  /** `sinceMs`: time of the first read attempt, where it is not read. */
  #answer(suspect: Suspect, read: LeaseRead, sinceMs = this.#nowMs()): SilenceAnswer['found'] | undefined {
    const { node } = suspect;
    if (!this.#pending.delete(node)) return undefined; // heartbeat or deletion since the request
    const found = read.kind === 'unreadable' ? this.#withoutRead(node, read.error, sinceMs) : this.#weigh(node, read);
    if (found === 'list') return this.#readByList(suspect);
    if (found !== 'unconfirmed') this.#endHold(node);
    this.#answers.push({ ...suspect, found });
    if (found !== 'unconfirmed') this.#options.alarm.wakeUp();
    return found;
  }

  /** Queues the lease of a node for the next reads. */
  #readByList({ node, heartbeatAtMs }: Suspect): undefined {
    this.#pending.set(node, this.#nowMs() + answerMsMax);
    this.#waiting.set(node, heartbeatAtMs);
  }

  #weigh(node: string, read: Exclude<LeaseRead, { kind: 'unreadable' }>): SilenceAnswer['found'] {
    this.#forbiddenSinceMs = undefined;
    if (read.kind === 'missing') return this.#withoutLease(node);
    const { leases, transitions, decisions, freshness } = this.#options;
    const known = leases.get(node);
    const { lease } = read;
    if (lease.renewTime === known?.renewTime) return 'silent';
    // The watch has delivered something as new meanwhile: then the response shows no unknown heartbeat.
    if (!leases.remember(known, lease)) return 'silent';
    transitions.withhold(node);
    decisions.note({ kind: 'confirmation-held', node, why: 'lease-renewed' });
    freshness.foundBehind();
    return 'renewed';
  }

  /** Assessment of a node whose lease does not exist: no evidence while most leases are lost, for a bounded time. */
  #withoutLease(node: string): 'silent' | 'unconfirmed' {
    const { loss, transitions, decisions } = this.#options;
    const hold = loss.evaluate(node);
    if (hold === 'over') return 'silent';
    transitions.withhold(node);
    if (hold === 'begins') decisions.note({ kind: 'confirmation-held', node, why: 'leases-missing' });
    return 'unconfirmed';
  }

  /** Whether the lease of a node counts as lost, as of the cache, where the lease cannot be read. */
  #isLost(node: string): boolean {
    return this.#options.leases.get(node) === undefined && this.#withoutLease(node) === 'unconfirmed';
  }

  /**
   * A failed read is no evidence, for a bounded time. A missing permission is permanent: its time runs for all nodes
   * together. Rejected credentials are not: they are loaded again.
   */
  #withoutRead(node: string, { reason }: ApiError, askedAtMs: number): 'silent' | 'unconfirmed' | 'list' {
    const why = reason === 'forbidden' || reason === 'unauthorized' ? 'not-permitted' : 'api-not-answering';
    const nowMs = this.#nowMs();
    const hold = this.#holdOf(node, why, askedAtMs);
    // The read of another lease may be permitted, and ends the common time: that of this node goes on.
    const sinceMs = Math.min(hold.sinceMs, reason === 'forbidden' ? this.#commonSinceMs(nowMs) : nowMs);
    const isOver = nowMs - sinceMs >= this.#options.options.current().leaseConfirmationHoldMs;
    if (!isOver || this.#options.freshness.staleness() !== undefined) return 'unconfirmed';
    if (this.#mayListFirst(node, hold)) return 'list';
    if (this.#isLost(node)) return 'unconfirmed';
    this.#options.decisions.note({ kind: 'silence-confirmed-by-cache', node, why, heldMs: nowMs - sinceMs });
    return 'silent';
  }

  #commonSinceMs(nowMs: number): number {
    this.#forbiddenSinceMs ??= nowMs;
    return this.#forbiddenSinceMs;
  }

  /** Once, unless the list in flight is for this node too. That for other nodes may have been sent too early for it. */
  #mayListFirst(node: string, hold: Hold): boolean {
    const may = this.#listing?.has(node) !== true && hold.isLastRead !== true;
    if (may) hold.isLastRead = true;
    return may;
  }

  #holdOf(node: string, why: UnconfirmedReason, askedAtMs: number): Hold {
    const known = this.#holds.get(node);
    if (known?.why === why) return known;
    const hold: Hold = { why, sinceMs: known?.sinceMs ?? askedAtMs };
    this.#holds.set(node, hold);
    this.#options.transitions.withhold(node);
    this.#options.decisions.note({ kind: 'confirmation-held', node, why });
    return hold;
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

function notReadInTime(): LeaseRead {
  const error = new ApiError({ reason: 'timeout', message: 'the lease was not read in time' });
  return { kind: 'unreadable', error };
}
