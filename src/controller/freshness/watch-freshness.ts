// Stale watches of the controller are not evidence that nodes failed. Frames of the lease watch are contact; when none
// arrive the API server is probed. Contacts advance the health clock.
import type { Informer } from '../../machinery/informer/informer.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import { abortReason } from '../../machinery/supervision/abort.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import type { LiveLeases } from '../../machinery/ports/leases.ts';
import type { Freshness, StaleReason } from '../model/freshness.ts';
import type { DecisionSink } from '../model/decisions.ts';
import { evaluationPaused, evaluationResumed } from './events.ts';
import { staleNow, staleSeconds, probesTotal, listFallbackActive } from './metrics.ts';
import { planFreshness, type FreshnessPlan } from './plan-freshness.ts';
import { FreshClock } from './fresh-clock.ts';
import { StaleTime } from './stale-time.ts';
import { FrameFallback } from './frame-fallback.ts';
import { evidenceMsMax, ListFallback } from './list-fallback.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { ControllerOptions } from '../model/options.ts';

interface WatchFreshnessOptions {
  readonly options: Live<Pick<ControllerOptions, 'nodeMonitorGracePeriodMs' | 'staleWatchHoldMs'>>;
  readonly leases: Pick<Informer<unknown>, 'status' | 'relist' | 'noticeServerVersion'>;
  readonly nodes: Pick<Informer<unknown>, 'status' | 'relist'>;
  readonly pods: Pick<Informer<unknown>, 'status' | 'relist'>;
  readonly live: Pick<LiveLeases, 'probe'>;
  /** Reports whether the lease watch lags; absent where the canary is disabled. */
  readonly canary?: { isBehind(): boolean } | undefined;
  /** Reopens all watch streams: their connection may have failed without an error. */
  readonly reopen: (openedByMs?: number) => void;
  /** The API server is at an older version than the lease watch: etcd was restored from a backup. */
  readonly onRollback: () => void;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Clock;
}

/** A list of all pods costs the API server more than one of nodes or leases. */
const listPodsEveryMs = 60_000;
/** After so long without an answer the watch has the time above to continue before it is replaced by a list. */
const answeringMs = 30_000;

const staleReasons: readonly StaleReason[] = ['no-contact', 'streams-not-open', 'stream-behind', 'observing'];

export class WatchFreshness implements Freshness {
  readonly #options: WatchFreshnessOptions;
  #planned: { readonly graceMs: number; readonly plan: FreshnessPlan } | undefined;
  readonly #clock: FreshClock;
  readonly #listFallback: ListFallback;
  readonly #frameFallback = new FrameFallback();
  readonly #stale = new StaleTime();
  readonly #podsStale = new StaleTime();
  /** Or when the API server did not answer last. */
  #podsRequestedAtMs = -Infinity;
  /** The restore of the storage that the clock has stood still for. */
  #restoredAtMs: number | undefined;
  /** When the watches of nodes and leases were last seen open. */
  #openAtMs = -Infinity;
  /** When the first and the last successful probe since then were sent. */
  #answeredWhileClosed: readonly number[] = [];
  /** When the last successful probe was sent. */
  #answeredAtMs = -Infinity;
  #reported: { readonly reason: StaleReason; readonly sinceMs: number; readonly staleMs: number } | undefined;
  #countedMs = 0;

  constructor(options: WatchFreshnessOptions) {
    this.#options = options;
    this.#clock = new FreshClock(() => this.#plan, options.clock.monotonicMs());
    this.#listFallback = new ListFallback([options.nodes, options.leases]);
  }

  /**
   * Time without contact after which the API server is probed: early enough for the limit in force, which may be that
   * of a shorter grace period until the next contact.
   */
  get #probeAfterMs(): number {
    return Math.min(this.#plan.probeAfterMs, this.#clock.contactMsMax / 2);
  }

  /** Read at every heartbeat; computed again when the grace period changed. */
  get #plan(): FreshnessPlan {
    const { nodeMonitorGracePeriodMs: graceMs } = this.#options.options.current();
    if (this.#planned?.graceMs !== graceMs) this.#planned = { graceMs, plan: planFreshness(graceMs) };
    return this.#planned.plan;
  }

  nowMs(): number {
    this.#notice();
    return this.#clock.nowMs(this.#monotonicMs());
  }

  arrivalMs(): number {
    this.#notice();
    return this.#clock.creditableMs(this.#monotonicMs());
  }

  staleness(): StaleReason | undefined {
    const reason = this.#rawStaleness();
    return this.#fallbackIsFresh() ? undefined : reason;
  }

  usesFallback(): boolean {
    return this.#fallbackIsFresh() && this.#rawStaleness() !== undefined;
  }

  /**
   * The watch of pods is not open, for at most `--stale-watch-hold` of time that fresh time does not make up: then the
   * resourceVersion in each deletion is the evidence, which the API server compares.
   */
  arePodsStale(): boolean {
    return !this.#isPodWatchOpen() && !this.#podsStale.exceedsHold;
  }

  #isPodWatchOpen(): boolean {
    return this.#options.pods.status().state === 'watching';
  }

  #fallbackIsFresh(): boolean {
    const nowMs = this.#monotonicMs();
    return this.#listFallback.isFresh(nowMs) || this.#frameFallback.isFresh(nowMs);
  }

  #rawStaleness(): StaleReason | undefined {
    this.#notice();
    if (this.#isBehind()) return 'stream-behind';
    // Lists used in place of a watch advance the clock, but the watch is still closed.
    if (this.#listFallback.active && !this.#streamsOpen()) return 'streams-not-open';
    const nowMs = this.#monotonicMs();
    if (this.#clock.awaitsFirstContact() || this.#clock.isOutOfContact(nowMs))
      return this.#streamsOpen() ? 'no-contact' : 'streams-not-open';
    return this.#clock.isObserving(nowMs) ? 'observing' : undefined;
  }

  /**
   * Checks for frames and probes when there are none, until the signal aborts: on a standby, so that silence is measured
   * where frames are further apart than a contact may be. Reports nothing and lists nothing.
   */
  async follow(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#clock.begin(clock.monotonicMs());
    while (!signal.aborted) {
      await this.#check(signal);
      await clock.sleep(this.#checkEveryMs, signal);
    }
  }

  /**
   * Runs {@link follow} for the leader: reports when the watches are stale, and lists in their place for a bounded
   * time.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#clock.begin(clock.monotonicMs());
    while (!signal.aborted) {
      await this.#check(signal);
      this.#report();
      this.#fallBack();
      await clock.sleep(this.#checkEveryMs, signal);
    }
  }

  get #checkEveryMs(): number {
    return Math.min(this.#plan.checkEveryMs, this.#clock.contactMsMax / 4);
  }

  async #check(signal: AbortSignal): Promise<void> {
    if (this.#needsProbe()) await this.#probe(signal);
  }

  /**
   * The last frame of the lease watch is contact. So are answers while a watch was opened again, if that took no longer than a gap that
   * counts: the watch then delivers what it missed. Never later than the current time.
   */
  #notice(): void {
    const nowMs = this.#monotonicMs();
    this.#noticeRestore(nowMs);
    if (!this.#streamsOpen() || this.#isBehind()) return;
    if (nowMs - this.#openAtMs <= this.#clock.contactMsMax)
      for (const atMs of this.#answeredWhileClosed) this.#clock.contact(atMs);
    this.#answeredWhileClosed = [];
    this.#openAtMs = nowMs;
    this.#clock.contact(Math.min(this.#frameAtMs() ?? -Infinity, nowMs));
  }

  #noticeRestore(nowMs: number): void {
    const { restoredAtMs } = this.#options.leases.status();
    if (restoredAtMs === this.#restoredAtMs) return;
    this.#restoredAtMs = restoredAtMs;
    this.#clock.restored(nowMs);
  }

  /** Time of the last lease frame, while the watches are open and not behind. */
  #frameAtMs(): number | undefined {
    return this.#streamsOpen() && !this.#isBehind() ? this.#options.leases.status().lastFrameAtMs : undefined;
  }

  #streamsOpen(): boolean {
    const { leases, nodes } = this.#options;
    return leases.status().state === 'watching' && nodes.status().state === 'watching';
  }

  /** Whether renewals exist that the watch does not deliver: then neither a frame nor a response is contact. */
  #isBehind(): boolean {
    return this.#options.canary?.isBehind() === true;
  }

  #needsProbe(): boolean {
    this.#notice();
    const nowMs = this.#monotonicMs();
    const quietMs = nowMs - this.#clock.lastContactAtMs();
    // Lists are requested only from an API server that answers, and frames alone do not show that.
    const isAnswerOld = this.#stale.exceedsHold && nowMs - this.#answeredAtMs > evidenceMsMax / 2;
    return this.#clock.awaitsFirstContact() || quietMs >= this.#probeAfterMs || isAnswerOld;
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const { live, clock, meter } = this.#options;
    const over = new AbortController();
    const giveUp = (): void => over.abort(abortReason);
    signal.addEventListener('abort', giveUp);
    const ended = new AbortController();
    const timer = clock.sleep(this.#plan.probeTimeoutMs, ended.signal).then(giveUp);
    const sentAtMs = this.#monotonicMs();
    const reachedBefore = this.#options.leases.status().resourceVersion;
    const version = await live.probe(over.signal).catch(() => undefined);
    const answered = version !== undefined;
    ended.abort(abortReason);
    await timer;
    signal.removeEventListener('abort', giveUp);
    meter.add(probesTotal, 1, { result: answered ? 'answered' : 'failed' });
    if (answered) this.#answeredAtMs = sentAtMs;
    if (answered) this.#noticeVersion(version, reachedBefore);
    // The response proves contact at the time of the request; when it was sent is unknown.
    if (!answered || this.#isBehind()) return;
    if (this.#streamsOpen()) this.#resume(sentAtMs);
    else this.#answeredWhileClosed = [...this.#answeredWhileClosed.slice(0, 1), sentAtMs];
  }

  /** The storage that went back in time is that of all resources, and a watch with few events shows it late or never. */
  #noticeVersion(version: string, reachedBefore: string): void {
    if (this.#options.leases.noticeServerVersion(version, reachedBefore)) this.#options.onRollback();
  }

  /**
   * A response after a loss of contact, without a frame before it: the watches may still use the failed connection. Those
   * opened since do not, and closing them would lose contact again: a watch that ends at once is opened again after a
   * backoff.
   */
  #resume(atMs: number): void {
    if (this.#clock.isOutOfContact(atMs)) this.#options.reopen(this.#clock.lastContactAtMs());
    this.#clock.contact(atMs);
  }

  /** The API server has renewals that the lease watch has not delivered: without recent frames the watch is dead. */
  foundBehind(): void {
    const frameAtMs = this.#options.leases.status().lastFrameAtMs ?? -Infinity;
    if (this.#monotonicMs() - frameAtMs > this.#plan.contactMsMax) this.#options.reopen();
  }

  #report(): void {
    const { decisions, recorder, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const reason = this.#rawStaleness();
    this.#count(nowMs, reason);
    if (reason === this.#reported?.reason) return;
    if (reason !== undefined && this.#reported === undefined) recorder.record(evaluationPaused(reason));
    const { sinceMs, staleMs } = this.#reported ?? { sinceMs: nowMs, staleMs: this.#clock.staleMs(nowMs) };
    this.#reported = reason === undefined ? undefined : { reason, sinceMs, staleMs };
    if (reason === undefined) {
      const lostMs = this.#clock.staleMs(nowMs) - staleMs;
      recorder.record(evaluationResumed(lostMs));
      decisions.note({ kind: 'evaluation-resumed', staleMs: lostMs });
    } else decisions.note({ kind: 'evaluation-paused', why: reason });
  }

  /** Every hold is bounded: at the maximum, frames of the watches or complete lists replace fresh watches. */
  #fallBack(): void {
    const nowMs = this.#monotonicMs();
    const why = this.#reported?.reason;
    this.#frameFallback.take(this.#frameAtMs(), nowMs);
    const { staleWatchHoldMs } = this.#options.options.current();
    this.#podsStale.note(!this.#isPodWatchOpen(), staleWatchHoldMs, nowMs);
    this.#listPods(nowMs);
    this.#stale.note(why !== undefined, staleWatchHoldMs, nowMs);
    if (!this.#stale.exceedsHold) return this.#endFallbacks();
    if (why === undefined) return;
    const staleMs = nowMs - (this.#stale.sinceMs ?? nowMs);
    if (this.#framesFlow()) this.#fallBackToFrames(why, staleMs);
    else this.#fallBackToLists(why, staleMs);
  }

  /** Pods that no watch shows would neither be marked nor evicted: lists show them. */
  #listPods(nowMs: number): void {
    const { pods } = this.#options;
    const listAgeMs = nowMs - (pods.status().lastListAtMs ?? -Infinity);
    const answerAgeMs = nowMs - Math.max(this.#answeredAtMs, this.#clock.lastContactAtMs());
    if (answerAgeMs > answeringMs) this.#podsRequestedAtMs = nowMs;
    const isDue = Math.min(listAgeMs, nowMs - this.#podsRequestedAtMs) >= listPodsEveryMs;
    if (!isDue || this.#isPodWatchOpen() || !this.#podsStale.exceedsHold) return;
    this.#podsRequestedAtMs = nowMs;
    pods.relist();
  }

  /** Whether frames come. Only those that arrived while stale are evidence: a frozen API server sends none. */
  #framesFlow(): boolean {
    const flowedMs = this.#frameFallback.flowedMs(this.#stale.sinceMs ?? Infinity);
    return flowedMs > 0 && flowedMs >= this.#options.options.current().staleWatchHoldMs;
  }

  #endFallbacks(): void {
    this.#listFallback.end();
    this.#frameFallback.end();
  }

  /** The watches are open and deliver frames, too far apart for the clock to run, and probes fail in between. */
  #fallBackToFrames(why: StaleReason, staleMs: number): void {
    if (!this.#frameFallback.active) this.#options.decisions.note({ kind: 'frames-stand-in', why, staleMs });
    this.#clock.listed(this.#frameFallback.begin(), this.#monotonicMs());
  }

  /** The API server answers, and a watch stays stale. */
  #fallBackToLists(why: StaleReason, staleMs: number): void {
    const nowMs = this.#monotonicMs();
    this.#frameFallback.end();
    if (nowMs - this.#answeredAtMs > evidenceMsMax) return;
    // The watches are open again and are observed for a moment; another list would close them again, repeatedly.
    const mayRequest = why !== 'observing';
    if (mayRequest && !this.#listFallback.active)
      this.#options.decisions.note({ kind: 'lists-stand-in', why, staleMs });
    // A canary that a closed watch does not deliver says nothing about the other one.
    const isBehind = why === 'stream-behind' && this.#options.leases.status().state === 'watching';
    const shownAtMs = this.#listFallback.poll(nowMs, { mayRequest, isBehind });
    if (shownAtMs !== undefined) this.#clock.listed(shownAtMs, nowMs);
  }

  #count(nowMs: number, reason: StaleReason | undefined): void {
    const { meter } = this.#options;
    for (const candidate of staleReasons) meter.set(staleNow, candidate === reason ? 1 : 0, { reason: candidate });
    meter.set(listFallbackActive, this.#listFallback.active ? 1 : 0);
    const staleMs = this.#clock.staleMs(nowMs);
    meter.add(staleSeconds, Math.max(0, staleMs - this.#countedMs) / 1_000);
    this.#countedMs = Math.max(this.#countedMs, staleMs);
  }

  #monotonicMs(): number {
    return this.#options.clock.monotonicMs();
  }
}
