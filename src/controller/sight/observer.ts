// A controller that stops hearing is not proof that nodes stopped talking. The observer watches our own eyes: frames of
// the lease stream are contact, and when none come it asks the API server itself. What it finds moves the sight clock.
import type { InformerStatus } from '../../informer/informer.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Meter } from '../../ports/meter.ts';
import type { BlindReason, LiveLeases, Sight } from '../../ports/sight.ts';
import type { DecisionSink } from '../decisions.ts';
import { verdictsFrozen, verdictsResumed } from './events.ts';
import { blindNow, blindSeconds, probesTotal } from './metrics.ts';
import { planSight, type SightPlan } from './plan-sight.ts';
import { SightClock } from './sight-clock.ts';

export interface ObserverOptions {
  /** Read at each look. */
  readonly nodeMonitorGracePeriodMs: number;
  readonly leases: { status(): InformerStatus };
  readonly nodes: { status(): InformerStatus };
  readonly live: Pick<LiveLeases, 'probe'>;
  /** Knows whether the lease stream is alive and late; absent where nobody looks. */
  readonly canary?: { isBehind(): boolean } | undefined;
  /** Opens all streams anew: what they hang on may have died without a word. */
  readonly reopen: () => void;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Clock;
}

const blindReasons: readonly BlindReason[] = ['no-contact', 'streams-not-open', 'stream-behind', 'observing'];

export class Observer implements Sight {
  readonly #options: ObserverOptions;
  #planned: { readonly graceMs: number; readonly plan: SightPlan } | undefined;
  readonly #sight: SightClock;
  #told: { readonly reason: BlindReason; readonly sinceMs: number; readonly blindMs: number } | undefined;
  #countedMs = 0;

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#sight = new SightClock(() => this.#plan, options.clock.monotonicMs());
  }

  /** It is asked for at every heartbeat, and made when the grace period is another. */
  get #plan(): SightPlan {
    const { nodeMonitorGracePeriodMs: graceMs } = this.#options;
    if (this.#planned?.graceMs !== graceMs) this.#planned = { graceMs, plan: planSight(graceMs) };
    return this.#planned.plan;
  }

  nowMs(): number {
    this.#notice();
    return this.#sight.nowMs(this.#monotonicMs());
  }

  blindness(): BlindReason | undefined {
    this.#notice();
    if (this.#isBehind()) return 'stream-behind';
    const nowMs = this.#monotonicMs();
    if (this.#sight.awaitsFirstContact() || this.#sight.isOutOfContact(nowMs))
      return this.#streamsOpen() ? 'no-contact' : 'streams-not-open';
    return this.#sight.isObserving(nowMs) ? 'observing' : undefined;
  }

  /** Looks, and asks when nothing is to be seen, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#sight.begin(clock.monotonicMs());
    while (!signal.aborted) {
      if (this.#needsProbe()) await this.#probe(signal);
      this.#tell();
      await clock.sleep(this.#plan.lookEveryMs, signal);
    }
  }

  /** The last frame of the lease stream is contact. A clock is read before a frame can be: never one from the future. */
  #notice(): void {
    const frameAtMs = this.#options.leases.status().lastFrameAtMs;
    if (frameAtMs !== undefined && this.#streamsOpen() && !this.#isBehind())
      this.#sight.contact(Math.min(frameAtMs, this.#monotonicMs()));
  }

  #streamsOpen(): boolean {
    const { leases, nodes } = this.#options;
    return leases.status().state === 'watching' && nodes.status().state === 'watching';
  }

  /** Then no frame is contact, nor an answer: renewals are there that we are not shown. */
  #isBehind(): boolean {
    return this.#options.canary?.isBehind() === true;
  }

  #needsProbe(): boolean {
    this.#notice();
    const quietMs = this.#monotonicMs() - this.#sight.lastContactAtMs();
    return this.#sight.awaitsFirstContact() || quietMs >= this.#plan.probeAfterMs;
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const { live, clock, meter } = this.#options;
    const over = new AbortController();
    const giveUp = (): void => over.abort();
    signal.addEventListener('abort', giveUp);
    const ended = new AbortController();
    const timer = clock.sleep(this.#plan.probeTimeoutMs, ended.signal).then(giveUp);
    const sentAtMs = this.#monotonicMs();
    const answered = await live.probe(over.signal).then(
      () => true,
      () => false,
    );
    ended.abort();
    await timer;
    signal.removeEventListener('abort', giveUp);
    meter.add(probesTotal, 1, { result: answered ? 'answered' : 'failed' });
    // The answer proves contact at the moment of asking; when it was given we cannot know.
    if (answered && this.#streamsOpen() && !this.#isBehind()) this.#resume(sentAtMs);
  }

  /** An answer after a loss of contact, and no frame before it: the streams may still hang on what was lost. */
  #resume(atMs: number): void {
    if (this.#sight.isOutOfContact(atMs)) this.#options.reopen();
    this.#sight.contact(atMs);
  }

  /** The API server has renewals that the lease stream has not: if nothing comes from it, it is dead. */
  foundBehind(): void {
    const frameAtMs = this.#options.leases.status().lastFrameAtMs ?? -Infinity;
    if (this.#monotonicMs() - frameAtMs > this.#plan.contactMsMax) this.#options.reopen();
  }

  #tell(): void {
    const { decisions, recorder, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const reason = this.blindness();
    this.#count(nowMs, reason);
    if (reason === this.#told?.reason) return;
    if (reason !== undefined && this.#told === undefined) recorder.record(verdictsFrozen(reason));
    const { sinceMs, blindMs } = this.#told ?? { sinceMs: nowMs, blindMs: this.#sight.blindMs(nowMs) };
    this.#told = reason === undefined ? undefined : { reason, sinceMs, blindMs };
    if (reason === undefined) {
      const lostMs = this.#sight.blindMs(nowMs) - blindMs;
      recorder.record(verdictsResumed(lostMs));
      decisions.note({ kind: 'sight-regained', blindMs: lostMs });
    } else decisions.note({ kind: 'sight-lost', why: reason });
  }

  #count(nowMs: number, reason: BlindReason | undefined): void {
    const { meter } = this.#options;
    for (const candidate of blindReasons) meter.set(blindNow, candidate === reason ? 1 : 0, { reason: candidate });
    const blindMs = this.#sight.blindMs(nowMs);
    meter.add(blindSeconds, Math.max(0, blindMs - this.#countedMs) / 1_000);
    this.#countedMs = Math.max(this.#countedMs, blindMs);
  }

  #monotonicMs(): number {
    return this.#options.clock.monotonicMs();
  }
}
