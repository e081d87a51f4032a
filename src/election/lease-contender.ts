/**
 * One process's hand on the lease. It knows what the lease last looked like and until when a renewal of ours counts, and
 * makes single attempts to get or keep it; when to try is the elector's business.
 *
 * Safe because both sides start counting at their own end: we from the moment a renewal was SENT, for the renew deadline;
 * the others from the moment they SAW it, for the whole lease duration, which is longer. Every write names the version it
 * was decided upon, so a late one cannot undo what happened since.
 */
import { ApiError, apiReason } from '../api/api-error.ts';
import type { Lease } from '../api/lease.ts';
import { callWithin } from './call-within.ts';
import { decideLease, type LeaseDecision, type ObservedLease, observeLease } from './decide-lease.ts';
import {
  type Claim,
  deriveFirstLease,
  deriveReleasedLease,
  deriveRenewedLease,
  deriveTakenLease,
} from './derive-lease.ts';
import type { ElectionOptions, ElectionSettings } from './election-options.ts';
import { slowpathTotal } from './metrics.ts';

/** Floor of one request's time limit; above it, half the renew deadline, so that one hung call leaves time for another. */
export const requestMsMin = 1_000;
/** Giving the lease back must not hold up an exit for longer than this, all tries together. */
export const releaseMsMax = 5_000;
/** A conflict while giving back means that a renewal of ours landed late: read again and repeat, this often at most. */
export const releaseTriesMax = 3;

export class LeaseContender {
  readonly #options: ElectionOptions;
  readonly #settings: ElectionSettings;
  #observed: ObservedLease | undefined;
  #lease: Lease | undefined;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #writeUnsettled = false;

  constructor(options: ElectionOptions, settings: ElectionSettings) {
    this.#options = options;
    this.#settings = settings;
  }

  /** Monotonic time at which the last renewal stops counting; in the past, or minus infinity, when we do not lead. */
  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  /** The lease as the server last showed it to us or stored it for us. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** A write of ours went out whose fate we never learnt: the lease may be ours without our knowing. */
  get writeUnsettled(): boolean {
    return this.#writeUnsettled;
  }

  /** Who held the lease when last seen; undefined before the first look, and while nobody does. */
  get holder(): string | undefined {
    const record = this.#observed?.record;
    return record === undefined || record === 'missing' ? undefined : record.holderIdentity || undefined;
  }

  /** How long the lease has named us without a renewal of ours; undefined while it does not name us. */
  get unrenewedMs(): number | undefined {
    if (this.#observed === undefined || this.holder !== this.#settings.identity) return undefined;
    return this.#options.clock.monotonicMs() - this.#observed.seenAtMs;
  }

  holds(): boolean {
    return this.#options.clock.monotonicMs() < this.#heldUntilMs;
  }

  /** From now on nothing of ours counts, whatever the lease says. */
  revoke(): void {
    this.#heldUntilMs = Number.NEGATIVE_INFINITY;
  }

  /**
   * Tries once to get or keep the lease (client-go `LeaderElector.tryAcquireOrRenew`). Never rejects, and tells only whether
   * all was answered: that may have taken longer than it is worth, so only {@link holds} says how it went.
   */
  async attempt(signal: AbortSignal): Promise<'answered' | 'failed'> {
    try {
      if (!(await this.#renewedUnread(signal))) await this.#attemptAfterReading(signal);
      return 'answered';
    } catch (error) {
      if (signal.aborted) return 'failed';
      const raced = apiReason(error) === 'conflict' || apiReason(error) === 'already-exists';
      this.#log(raced ? 'debug' : 'warn', error, 'could not get or renew the lease');
      return 'failed';
    }
  }

  /** The cheap way: as leader, write on top of what we wrote last. False if that is not possible or did not work. */
  async #renewedUnread(signal: AbortSignal): Promise<boolean> {
    if (this.#lease === undefined || this.holder !== this.#settings.identity || !this.holds()) return false;
    try {
      await this.#write('replace', deriveRenewedLease(this.#lease, this.#claim()), signal);
      return true;
    } catch (error) {
      if (signal.aborted || !this.holds()) throw error;
      this.#options.meter.add(slowpathTotal, 1, { name: this.#settings.name });
      this.#log('debug', error, 'could not renew the lease as last seen, reading it again');
      return false;
    }
  }

  async #attemptAfterReading(signal: AbortSignal): Promise<void> {
    const ledBefore = this.holds();
    const shown = await this.#read(signal);
    const leading = this.holds();
    // Our time ran out over the reading. Who led must not write any more, not even to lead again.
    if (ledBefore && !leading) return;
    const nowMs = this.#options.clock.monotonicMs();
    this.#observe(observeLease(this.#observed, shown, nowMs));
    this.#lease = shown;
    const { identity, leaseDurationMs } = this.#settings;
    const decision = decideLease({ observed: this.#observed, identity, leading, leaseDurationMs, nowMs });
    if (decision.next === 'wait') this.#yield(decision.reason);
    else await this.#carryOut(decision, shown, signal);
  }

  #yield(reason: string): void {
    // Another name in the lease ends our claim at once, however much of our own time is left.
    this.revoke();
    this.#options.logger.debug({ reason, holder: this.holder ?? '' }, 'not leading');
  }

  async #carryOut(decision: LeaseDecision, shown: Lease | undefined, signal: AbortSignal): Promise<void> {
    const claim = this.#claim();
    if (shown === undefined) await this.#write('create', deriveFirstLease(claim), signal);
    else if (decision.next === 'renew') await this.#write('replace', deriveRenewedLease(shown, claim), signal);
    else await this.#write('replace', deriveTakenLease(shown, claim), signal);
    if (decision.next !== 'renew') this.#options.logger.info({ reason: decision.reason }, 'acquired the lease');
  }

  async #write(verb: 'create' | 'replace', lease: Lease, signal: AbortSignal): Promise<void> {
    const { api, clock } = this.#options;
    const sentAtMs = clock.monotonicMs();
    const write = (signal: AbortSignal): Promise<Lease> => api[verb]('leases', lease, { signal });
    const unsettledBefore = this.#writeUnsettled;
    this.#writeUnsettled = true;
    try {
      this.#lease = await callWithin({ clock, ms: this.#requestMs(), signal }, write);
      this.#writeUnsettled = false;
    } catch (error) {
      this.#writeUnsettled = unsettledBefore || !wasRefused(error);
      throw error;
    }
    this.#observe({ record: this.#lease.spec ?? {}, seenAtMs: sentAtMs });
    this.#heldUntilMs = sentAtMs + this.#settings.renewDeadlineMs;
  }

  #observe(observed: ObservedLease | undefined): void {
    const before = this.holder;
    this.#observed = observed;
    if (this.holder !== before) this.#reportLeader(this.holder ?? '');
  }

  /** Whoever listens cannot cost us the lease. */
  #reportLeader(leader: string): void {
    try {
      this.#options.onNewLeader?.(leader);
    } catch (error) {
      this.#options.logger.warn({ error: String(error) }, 'could not tell of the new leader');
    }
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { api, clock } = this.#options;
    const { namespace, name } = this.#settings;
    const get = (signal: AbortSignal): Promise<Lease> => api.get('leases', { namespace, name }, { signal });
    try {
      return await callWithin({ clock, ms: this.#requestMs(), signal }, get);
    } catch (error) {
      if (apiReason(error) === 'not-found') return undefined;
      throw error;
    }
  }

  /** While we lead, no call may outlast our own deadline: its end must be noticed on time. */
  #requestMs(): number {
    const limitMs = Math.max(requestMsMin, this.#settings.renewDeadlineMs / 2);
    const leftMs = this.#heldUntilMs - this.#options.clock.monotonicMs();
    return leftMs > 0 ? Math.min(limitMs, leftMs) : limitMs;
  }

  /**
   * Gives the lease back, so that the next contender need not wait. Only for one whose work has ended: it revokes our
   * claim first. Where it fails the lease runs out by itself; that is logged and never thrown.
   */
  async release(): Promise<void> {
    this.revoke();
    const { clock } = this.#options;
    const limit = { clock, ms: releaseMsMax, signal: new AbortController().signal };
    try {
      await callWithin(limit, (signal) => this.#giveBack(signal, releaseTriesMax));
    } catch (error) {
      this.#log('warn', error, 'could not release the lease, it runs out by itself');
    }
  }

  async #giveBack(signal: AbortSignal, tries: number): Promise<void> {
    const { api, clock } = this.#options;
    const shown = await this.#read(signal);
    if (shown?.spec?.holderIdentity !== this.#settings.identity) return;
    try {
      this.#lease = await api.replace('leases', deriveReleasedLease(shown, clock.nowMs()), { signal });
      this.#observe({ record: this.#lease.spec ?? {}, seenAtMs: clock.monotonicMs() });
      this.#options.logger.info({}, 'released the lease');
    } catch (error) {
      if (tries <= 1 || apiReason(error) !== 'conflict') throw error;
      await this.#giveBack(signal, tries - 1);
    }
  }

  #claim(): Claim {
    return { ...this.#settings, nowMs: this.#options.clock.nowMs() };
  }

  #log(level: 'debug' | 'warn', error: unknown, message: string): void {
    this.#options.logger[level]({ reason: apiReason(error), error: String(error) }, message);
  }
}

/** The server said no, so nothing was written. 5xx and no answer at all leave that open. */
function wasRefused(error: unknown): boolean {
  return error instanceof ApiError && error.code >= 400 && error.code < 500;
}
