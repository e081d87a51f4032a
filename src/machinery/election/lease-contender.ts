/**
 * One process's access to the lease: the last observed lease, the deadline of the last renewal, and single attempts to
 * acquire or renew it. The leader elector decides when to try.
 *
 * Safety: the leader counts from the moment it SENT a renewal, for the renew deadline; the others count from the moment
 * they OBSERVED it, for the whole lease duration, which is longer. Every write carries the resourceVersion that it was
 * based on, so a late write cannot overwrite a newer state.
 *
 * After a suspend, or a step of the wall clock that looks like one, leadership is paused: nothing may be written, but the
 * lease may be renewed as long as the monotonic deadline is ahead. A renewal of the lease as this process wrote it proves
 * that no other process has led meanwhile; any other state of the lease ends leadership.
 */
import { cutText, valueCharsMax } from '../api/limits.ts';
import { ApiError, apiReason } from '../api/api-error.ts';
import type { Lease } from '../api/lease.ts';
import { instantOf } from '../ports/clock.ts';
import type { ApiContact } from '../supervision/api-contact.ts';
import { callWithin } from '../supervision/call-within.ts';
import {
  decideLease,
  expiresAtMs,
  type LeaseDecision,
  type ObservedLease,
  observeLease,
  sameRecord,
} from './decide-lease.ts';
import {
  type Claim,
  buildFirstLease,
  buildReleasedLease,
  buildRenewedLease,
  buildTakenLease,
  withRestoreMark,
} from './build-lease.ts';
import type { ElectionOptions, ElectionSettings } from './election-options.ts';
import { LeaseDeadline } from './lease-deadline.ts';
import { slowpathTotal } from './metrics.ts';
import { StorageContinuity } from './storage-continuity.ts';

/** Minimum timeout of one request; otherwise half the renew deadline, so that one hung call leaves time for another. */
const requestMsMin = 1_000;
/** Maximum time to release the lease at exit, all attempts together. */
const releaseMsMax = 5_000;
/** A conflict while releasing means that an own renewal arrived late: read again and retry, at most this many times. */
const releaseTriesMax = 3;

type ContenderOptions = ElectionOptions & { readonly contact: ApiContact };

export class LeaseContender {
  readonly #options: ContenderOptions;
  readonly #settings: ElectionSettings;
  #observed: ObservedLease | undefined;
  #lease: Lease | undefined;
  readonly #deadline: LeaseDeadline;
  #writeUnsettled = false;
  readonly #continuity: StorageContinuity;

  constructor(options: ContenderOptions, settings: ElectionSettings) {
    this.#options = options;
    this.#settings = settings;
    this.#deadline = new LeaseDeadline(options.clock, settings.renewDeadlineMs);
    this.#continuity = new StorageContinuity({ ...options, gapMsMax: settings.leaseDurationMs });
  }

  /** Monotonic time at which the last renewal expires; in the past, or minus infinity, while this process does not lead. */
  get heldUntilMs(): number {
    return this.#deadline.untilMs;
  }

  /** The lease as last read from or stored by the server. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** The outcome of a write is unknown: this process may hold the lease without having observed it. */
  get writeUnsettled(): boolean {
    return this.#writeUnsettled;
  }

  /** The holder of the lease as last observed; undefined before the first observation and without a holder. */
  get holder(): string | undefined {
    const record = this.#observed?.record;
    return record === undefined || record === 'missing' ? undefined : record.holderIdentity || undefined;
  }

  /** The holder as it is shown: another process may have written a text of any length. */
  get shownHolder(): string {
    const holder = this.holder ?? '';
    return holder === this.#settings.identity ? holder : cutText(holder, valueCharsMax);
  }

  /** Time since the last renewal while the lease names this process; undefined while it does not. */
  get unrenewedMs(): number | undefined {
    if (this.#observed === undefined || this.holder !== this.#settings.identity) return undefined;
    return this.#options.clock.monotonicMs() - this.#observed.observedAtMs;
  }

  /** Until the lease as last observed expires unless it is renewed; not positive if it has, or was never observed. */
  get expiresInMs(): number {
    if (this.#observed === undefined) return 0;
    return expiresAtMs(this.#observed, this.#settings.leaseDurationMs) - this.#options.clock.monotonicMs();
  }

  /** True until the renew deadline has passed, on either clock, since the last successful renewal was sent. */
  holds(): boolean {
    return this.#deadline.holds();
  }

  /** The monotonic deadline has not passed. While {@link holds} is false, leadership is paused until the next renewal. */
  mayRenew(): boolean {
    return this.#deadline.isAhead();
  }

  /** Ends the claim of this process, regardless of the lease. */
  revoke(): void {
    this.#deadline.revoke();
  }

  /**
   * Tries once to acquire or renew the lease (client-go `LeaderElector.tryAcquireOrRenew`). Never rejects. The result only
   * states whether every request was answered, possibly too late; {@link holds} states whether this process leads.
   */
  async attempt(signal: AbortSignal): Promise<'answered' | 'failed'> {
    try {
      if (!(await this.#renewWithoutReading(signal))) await this.#attemptAfterReading(signal);
      await this.#verifyHistory(signal);
      return 'answered';
    } catch (error) {
      if (signal.aborted) return 'failed';
      const isRace = apiReason(error) === 'conflict' || apiReason(error) === 'already-exists';
      this.#log(isRace ? 'debug' : 'warn', error, 'failed to acquire or renew the lease');
      return 'failed';
    }
  }

  /** Reads the lease once and acquires nothing. Never rejects. */
  async observe(signal: AbortSignal): Promise<void> {
    try {
      this.#take(await this.#read(signal));
      await this.#verifyHistory(signal);
    } catch (error) {
      if (!signal.aborted) this.#log('debug', error, 'failed to read the lease');
    }
  }

  /** Fast path of the leader: writes on top of the last own write, without reading. False if not possible or if it failed. */
  async #renewWithoutReading(signal: AbortSignal): Promise<boolean> {
    if (this.#lease === undefined || this.holder !== this.#settings.identity || !this.holds()) return false;
    try {
      await this.#write('replace', buildRenewedLease(this.#lease, this.#claim()), signal);
      return true;
    } catch (error) {
      if (signal.aborted || !this.holds()) throw error;
      this.#options.meter.add(slowpathTotal, 1, { name: this.#settings.name });
      this.#log('debug', error, 'failed to renew the lease as last observed; reading it again');
      return false;
    }
  }

  async #attemptAfterReading(signal: AbortSignal): Promise<void> {
    const ledBefore = this.mayRenew();
    const current = await this.#read(signal);
    const leading = this.holds();
    const paused = !leading && this.mayRenew();
    // The deadline passed during the read. A process that led must not write after it, not even to lead again.
    if (ledBefore && !leading && !paused) return;
    const nowMs = this.#take(current);
    const { identity, leaseDurationMs } = this.#settings;
    const decision = decideLease({ observed: this.#observed, identity, leading, paused, leaseDurationMs, nowMs });
    if (decision.next === 'wait') this.#yield(decision.reason);
    else await this.#apply(decision, current, signal);
  }

  /** Returns the time. */
  #take(current: Lease | undefined): number {
    const nowMs = this.#options.clock.monotonicMs();
    this.#observe(observeLease(this.#observed, current, nowMs));
    this.#lease = current;
    if (current !== undefined) this.#checkContinuity(current);
    else if (this.#continuity.observeMissing()) this.#options.onRollback?.();
    return nowMs;
  }

  #yield(reason: string): void {
    // Another holder in the lease ends the claim at once, even before the own deadline.
    this.revoke();
    this.#options.logger.debug({ reason, holder: this.shownHolder }, 'not leading');
  }

  async #apply(decision: LeaseDecision, current: Lease | undefined, signal: AbortSignal): Promise<void> {
    const claim = this.#claim();
    if (current === undefined) await this.#write('create', buildFirstLease(claim), signal);
    else if (decision.next === 'renew') await this.#write('replace', buildRenewedLease(current, claim), signal);
    else await this.#write('replace', buildTakenLease(current, claim), signal);
    if (decision.next !== 'renew') this.#options.logger.info({ reason: decision.reason }, 'acquired the lease');
  }

  async #write(verb: 'create' | 'replace', lease: Lease, signal: AbortSignal): Promise<void> {
    const { api, clock, contact } = this.#options;
    const sentAt = instantOf(clock);
    const marked = withRestoreMark(lease, this.#continuity.mark);
    const write = (signal: AbortSignal): Promise<Lease> => api[verb]('leases', marked, { signal });
    const unsettledBefore = this.#writeUnsettled;
    this.#writeUnsettled = true;
    try {
      this.#lease = await callWithin({ clock, ms: this.#requestMs(), signal }, write);
      this.#writeUnsettled = false;
      contact.answered();
    } catch (error) {
      this.#writeUnsettled = unsettledBefore || !wasRejected(error);
      throw error;
    }
    this.#checkContinuity(this.#lease, lease.metadata.resourceVersion);
    this.#observe({ record: this.#lease.spec ?? {}, observedAtMs: sentAt.monotonicMs });
    this.#deadline.renewed(sentAt);
  }

  #checkContinuity(lease: Lease, writtenOn?: string): void {
    if (this.#continuity.observe(lease, writtenOn)) this.#options.onRollback?.();
  }

  /** After a long gap without the lease. Never rejects; without an answer it is repeated by the next attempt. */
  async #verifyHistory(signal: AbortSignal): Promise<void> {
    const lease = this.#continuity.unverifiedLease;
    if (lease === undefined) return;
    const history = await this.#readHistory(lease, signal);
    if (this.#continuity.verify(history)) this.#options.onRollback?.();
  }

  /** Whether the storage has this state of the lease at its version. */
  async #readHistory({ metadata, spec = {} }: Lease, signal: AbortSignal): Promise<'same' | 'other' | 'no-answer'> {
    const { api, clock } = this.#options;
    const { namespace, name, retryPeriodMs } = this.#settings;
    const resourceVersion = metadata.resourceVersion ?? '';
    const at = { resourceVersion, resourceVersionMatch: 'Exact', fieldSelector: `metadata.name=${name}` } as const;
    const list = (signal: AbortSignal): ReturnType<typeof api.list> => api.list('leases', { namespace, ...at, signal });
    try {
      const { items } = await callWithin({ clock, ms: retryPeriodMs, signal }, list);
      const found: Lease | undefined = items[0];
      const isSame = found?.metadata.resourceVersion === resourceVersion && sameRecord(found.spec ?? {}, spec);
      return isSame ? 'same' : 'other';
    } catch (error) {
      this.#log('debug', error, 'failed to read the lease as it was before a gap');
      return isBusy(error) || !wasRejected(error) ? 'no-answer' : 'other';
    }
  }

  #observe(observed: ObservedLease | undefined): void {
    const before = this.holder;
    this.#observed = observed;
    if (this.holder !== before) this.#reportLeader(this.shownHolder);
  }

  /** A callback that throws must not cost the lease. */
  #reportLeader(leader: string): void {
    try {
      this.#options.onNewLeader?.(leader);
    } catch (error) {
      this.#options.logger.warn({ error: String(error) }, 'new leader callback failed');
    }
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { api, clock, contact } = this.#options;
    const { namespace, name } = this.#settings;
    const get = (signal: AbortSignal): Promise<Lease> => api.get('leases', { namespace, name }, { signal });
    try {
      const lease = await callWithin({ clock, ms: this.#requestMs(), signal }, get);
      contact.answered();
      return lease;
    } catch (error) {
      if (apiReason(error) === 'not-found') return undefined;
      throw error;
    }
  }

  /** While leading, no call may outlast the renew deadline, so that its expiry is noticed on time. */
  #requestMs(): number {
    const limitMs = Math.max(requestMsMin, this.#settings.renewDeadlineMs / 2);
    const leftMs = this.#deadline.untilMs - this.#options.clock.monotonicMs();
    return leftMs > 0 ? Math.min(limitMs, leftMs) : limitMs;
  }

  /**
   * Releases the lease, so that the next contender need not wait. Only after the leader's work has ended: it revokes the
   * claim first. A failure is logged and never thrown; the lease then expires.
   */
  async release(): Promise<void> {
    this.revoke();
    const { clock } = this.#options;
    const limit = { clock, ms: releaseMsMax, signal: new AbortController().signal };
    try {
      await callWithin(limit, (signal) => this.#tryRelease(signal, releaseTriesMax));
    } catch (error) {
      this.#log('warn', error, 'failed to release the lease; it expires by itself');
    }
  }

  async #tryRelease(signal: AbortSignal, tries: number): Promise<void> {
    const { api, clock } = this.#options;
    const current = await this.#read(signal);
    if (current?.spec?.holderIdentity !== this.#settings.identity) return;
    try {
      this.#lease = await api.replace('leases', buildReleasedLease(current, clock.nowMs()), { signal });
      this.#observe({ record: this.#lease.spec ?? {}, observedAtMs: clock.monotonicMs() });
      this.#options.logger.info({}, 'released the lease');
    } catch (error) {
      if (tries <= 1 || apiReason(error) !== 'conflict') throw error;
      await this.#tryRelease(signal, tries - 1);
    }
  }

  #claim(): Claim {
    return { ...this.#settings, nowMs: this.#options.clock.nowMs() };
  }

  #log(level: 'debug' | 'warn', error: unknown, message: string): void {
    this.#options.logger[level]({ reason: apiReason(error), error: String(error) }, message);
  }
}

function isBusy(error: unknown): boolean {
  return apiReason(error) === 'too-many-requests';
}

/** The server rejected the write, so nothing was written. After 5xx or without a response the outcome is unknown. */
function wasRejected(error: unknown): boolean {
  return error instanceof ApiError && error.code >= 400 && error.code < 500;
}
