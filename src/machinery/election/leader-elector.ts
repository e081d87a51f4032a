import type { Ending, Leadership } from '../ports/leadership.ts';
import { ApiContact } from '../supervision/api-contact.ts';
import { LinkedAbort, untilAborted } from '../supervision/abort.ts';
import {
  type ElectionOptions,
  type ElectionSettings,
  electionDefaults,
  electionProblems,
  jitterFactor,
  pollsPerRetryPeriod,
} from './election-options.ts';
import { becameLeader, stoppedLeading } from './events.ts';
import { LeaseContender } from './lease-contender.ts';
import { masterStatus } from './metrics.ts';

/** Maximum time of the leader's work after its signal aborted. After that the lease expires instead of being released. */
export const drainMsMax = 10_000;
/** Time past the lease's expiry after which an unrenewed leader reports itself unhealthy (client-go `HealthzAdaptor`). */
export const unhealthyAfterMs = 20_000;

type Lead = (leading: AbortSignal) => Promise<Ending>;
type WorkResult = { readonly end: Ending } | { readonly end: 'failed'; readonly cause: unknown };

/**
 * Leader election with one Lease: client-go's `leaderelection` with two differences. {@link holds} compares a deadline
 * with the clock at each call, so that a process which was paused does not write after it resumes; and the lease is
 * released only after the leader's work has ended, and renewed until then.
 *
 * A new process waits one whole lease duration before it takes a lease that is not renewed, and creates a missing lease
 * at once if it never observed one. No client can rule out one case: the lease of a partitioned leader is deleted
 * manually, and a process starts at that moment, which cannot detect that the lease existed.
 */
export class LeaderElector implements Leadership {
  readonly #options: ElectionOptions;
  readonly #settings: ElectionSettings;
  readonly #contender: LeaseContender;
  readonly #contact: ApiContact;
  #running = false;

  /** Throws a RangeError that lists every invalid option. */
  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#settings = resolveSettings(options);
    const problems = electionProblems(this.#settings);
    if (problems.length > 0) throw new RangeError(`invalid leader election options: ${problems.join('; ')}`);
    this.#contact = options.contact ?? new ApiContact(options.clock);
    this.#contender = new LeaseContender({ ...options, contact: this.#contact }, this.#settings);
    this.#setStatus(0);
  }

  /**
   * Whether this process may write now: true until the renew deadline has passed, on the monotonic or on the wall clock,
   * since the last successful renewal was sent. After a suspend it is false until the lease has been renewed.
   */
  holds(): boolean {
    return this.#contender.holds();
  }

  /** The identity in the lease as last observed, to be shown: a long one is cut; undefined if it has no holder. */
  holder(): string | undefined {
    return this.#contender.shownHolder || undefined;
  }

  /**
   * Why this process should be restarted, or undefined: it is the holder in the lease, and long after the lease expired it
   * has neither renewed it nor stopped leading. It writes nothing in that state; the cause is a blocked event loop or call.
   */
  problem(): string | undefined {
    const unrenewedMs = this.#contender.unrenewedMs ?? 0;
    if (unrenewedMs <= this.#settings.leaseDurationMs + unhealthyAfterMs) return undefined;
    return `the lease is held by this process and was not renewed for ${Math.round(unrenewedMs / 1_000)}s`;
  }

  /**
   * Reads the lease and acquires nothing until the signal aborts: for the time in which the caches of this process fill. A
   * restore of etcd in that time is noticed, and the lease of a dead leader expires meanwhile. Never rejects.
   */
  async observe(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#contender.observe(signal);
      await this.#contact.sleep(this.#settings.retryPeriodMs, signal);
    }
  }

  /**
   * Waits for leadership, then runs `lead` while it lasts. When the signal aborts: aborts `lead`, waits for it (at most
   * {@link drainMsMax}), releases the lease, and resolves with `stopped`; a `lead` that ends by itself counts the same.
   * When leadership is lost: aborts `lead`, waits likewise, and resolves with `lost`; the caller should exit. The lease is
   * released only if this process holds it and `lead` ended `drained`: a write that may still be in flight must find the
   * lease held. Rejects only with the error of `lead`.
   */
  async run(signal: AbortSignal, lead: Lead): Promise<'stopped' | 'lost'> {
    if (this.#running) throw new Error('this leader elector is already running');
    this.#running = true;
    try {
      if (await this.#acquire(signal)) return await this.#leadUntilOver(signal, lead);
      if (this.#contender.mayRenew() || this.#contender.writeUnsettled) await this.#contender.release();
      return 'stopped';
    } finally {
      this.#contender.revoke();
      this.#running = false;
    }
  }

  /** True once this process leads; false if the signal aborted before (client-go `LeaderElector.acquire`). */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const result = await this.#contender.attempt(signal);
      if (this.holds()) return !signal.aborted;
      await this.#contact.sleep(this.#waitMs(result), signal);
    }
    return false;
  }

  /** A lease that expires before the next poll is due is read again when it does. */
  #waitMs(result: 'answered' | 'failed'): number {
    const pollMs = this.#pauseMs(result) * (1 + jitterFactor * this.#options.random.next());
    const { expiresInMs } = this.#contender;
    return expiresInMs > 0 ? Math.min(pollMs, expiresInMs) : pollMs;
  }

  /** After a failed attempt the interval is client-go's retry period. */
  #pauseMs(result: 'answered' | 'failed'): number {
    const { retryPeriodMs } = this.#settings;
    return result === 'answered' ? retryPeriodMs / pollsPerRetryPeriod : retryPeriodMs;
  }

  async #leadUntilOver(signal: AbortSignal, lead: Lead): Promise<'stopped' | 'lost'> {
    const leading = new LinkedAbort(signal);
    const renewing = new AbortController();
    this.#announceStart();
    const work = runWork(lead, leading.signal).finally(leading.abort);
    const renewal = this.#renew(renewing.signal).finally(leading.abort);
    await untilAborted(leading.signal);
    const isStopRequested = signal.aborted;
    leading.release();
    const ended = await this.#drain(work);
    renewing.abort();
    const isRenewed = await renewal;
    await this.#stepDown(isRenewed && ended?.end === 'drained');
    if (ended?.end === 'failed') throw ended.cause;
    return isRenewed || isStopRequested ? 'stopped' : 'lost';
  }

  /** Renews until the signal aborts (true) or the lease is lost (false). Resolves no later than the renew deadline. */
  async #renew(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const leftMs = this.#contender.heldUntilMs - clock.monotonicMs();
      await clock.sleep(Math.min(this.#settings.retryPeriodMs, leftMs), signal);
      // Checked before anything is sent: the sleep may have lasted longer than requested.
      if (!this.#contender.mayRenew()) return false;
      if (signal.aborted) break;
      this.#notePause();
      await this.#contender.attempt(signal);
      if (!this.#contender.mayRenew()) return false;
    }
    return this.holds();
  }

  #notePause(): void {
    if (this.holds()) return;
    const { renewDeadlineMs } = this.#settings;
    const message = 'wall clock advanced past the renew deadline; writes are paused until the lease is renewed';
    this.#options.logger.warn({ renewDeadlineMs }, message);
  }

  /** Result of the work, or undefined if it did not end within the limit. */
  async #drain(work: Promise<WorkResult>): Promise<WorkResult | undefined> {
    const done = new AbortController();
    const timeout = this.#options.clock.sleep(drainMsMax, done.signal).then(() => undefined);
    try {
      return await Promise.race([work, timeout]);
    } finally {
      done.abort();
    }
  }

  async #stepDown(mayRelease: boolean): Promise<void> {
    const { logger, recorder } = this.#options;
    const { lease } = this.#contender;
    this.#setStatus(0);
    logger.info({ release: mayRelease }, 'stopped leading');
    if (lease !== undefined) recorder?.record(stoppedLeading(lease, this.#settings.identity));
    // This process still holds the lease, so the callback may write.
    await this.#options.beforeRelease?.();
    if (mayRelease) await this.#contender.release();
  }

  #announceStart(): void {
    const { logger, recorder } = this.#options;
    const { lease } = this.#contender;
    this.#setStatus(1);
    logger.info({ identity: this.#settings.identity }, 'became leader');
    if (lease !== undefined) recorder?.record(becameLeader(lease, this.#settings.identity));
  }

  #setStatus(value: 0 | 1): void {
    this.#options.meter.set(masterStatus, value, { name: this.#settings.name });
  }
}

function resolveSettings({ identity, namespace, name, ...options }: ElectionOptions): ElectionSettings {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = { ...electionDefaults, ...options };
  return { identity, namespace, name, leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

async function runWork(lead: Lead, signal: AbortSignal): Promise<WorkResult> {
  try {
    return { end: await lead(signal) };
  } catch (cause) {
    return { end: 'failed', cause };
  }
}
