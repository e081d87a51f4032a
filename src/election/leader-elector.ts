import type { Ending, Leadership } from '../ports/leadership.ts';
import { untilAborted } from '../supervision/until-aborted.ts';
import {
  type ElectionOptions,
  type ElectionSettings,
  electionDefaults,
  electionProblems,
  jitterFactor,
  looksPerRetryPeriod,
} from './election-options.ts';
import { becameLeader, stoppedLeading } from './events.ts';
import { LeaseContender } from './lease-contender.ts';
import { masterStatus } from './metrics.ts';

/** How long the leader's work may take to end once it was told to. After that the lease is left to run out. */
export const drainMsMax = 10_000;
/** A leader that is later than this past its lease's end is no longer one that recovers (client-go `HealthzAdaptor`). */
export const unhealthyAfterMs = 20_000;

type Lead = (leading: AbortSignal) => Promise<Ending>;
type Work = { readonly end: Ending } | { readonly end: 'failed'; readonly cause: unknown };

/**
 * Leads, or waits to, by one Lease: client-go's `leaderelection` with two mends. {@link holds} is a deadline that is
 * compared with the clock each time, so that a process which was paused knows better than to write when it wakes; and the
 * lease is released only after the leader's work has ended, renewed until then.
 *
 * A fresh process waits one whole lease duration before it takes a lease whose holder is silent, and creates one at once
 * where there never was any. What no client can rule out: a lease deleted by hand under a leader that is cut off, and a
 * process started in that very moment, which cannot know that there was one.
 */
export class LeaderElector implements Leadership {
  readonly #options: ElectionOptions;
  readonly #settings: ElectionSettings;
  readonly #contender: LeaseContender;
  #running = false;

  /** Throws a RangeError that names everything that is wrong with the options. */
  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#settings = settled(options);
    const problems = electionProblems(this.#settings);
    if (problems.length > 0) throw new RangeError(`leader election cannot work like this: ${problems.join('; ')}`);
    this.#contender = new LeaseContender(options, this.#settings);
    this.#showStatus(0);
  }

  /** May we write, now? True until the renew deadline has passed since our last successful renewal was sent. */
  holds(): boolean {
    return this.#contender.holds();
  }

  /** The identity in the lease as we last saw it, ours or another's; undefined if nobody's. */
  holder(): string | undefined {
    return this.#contender.holder;
  }

  /**
   * Why we had better be restarted, or undefined: the lease names us, and long after it ran out we have neither renewed
   * it nor stepped down. Nothing of ours is written meanwhile; it means that something in here stands still.
   */
  problem(): string | undefined {
    const unrenewedMs = this.#contender.unrenewedMs ?? 0;
    if (unrenewedMs <= this.#settings.leaseDurationMs + unhealthyAfterMs) return undefined;
    return `the lease names us and was not renewed for ${Math.round(unrenewedMs / 1_000)} s`;
  }

  /**
   * Waits for leadership, then runs `lead` while it lasts. When the signal aborts: tells `lead` to end, waits for it (at
   * most {@link drainMsMax}), releases the lease, and resolves with `stopped`; a `lead` that ends by itself counts the
   * same. When leadership cannot be kept: tells `lead` to end, waits likewise, and resolves with `lost`; the caller had
   * better exit. The lease is released only if it is ours and `lead` ended `drained`: whatever else may still be on its
   * way must find it held. Rejects only with what `lead` rejected with.
   */
  async run(signal: AbortSignal, lead: Lead): Promise<'stopped' | 'lost'> {
    if (this.#running) throw new Error('this elector is running already');
    this.#running = true;
    try {
      if (await this.#acquire(signal)) return await this.#leadUntilOver(signal, lead);
      if (this.holds() || this.#contender.writeUnsettled) await this.#contender.release();
      return 'stopped';
    } finally {
      this.#contender.revoke();
      this.#running = false;
    }
  }

  /** True once we lead; false if the signal aborted before (client-go `LeaderElector.acquire`). */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, random } = this.#options;
    while (!signal.aborted) {
      const look = await this.#contender.attempt(signal);
      if (this.holds()) return !signal.aborted;
      await clock.sleep(this.#pauseMs(look) * (1 + jitterFactor * random.next()), signal);
    }
    return false;
  }

  /** A server that does not answer is not asked more often than client-go does. */
  #pauseMs(look: 'answered' | 'failed'): number {
    const { retryPeriodMs } = this.#settings;
    return look === 'answered' ? retryPeriodMs / looksPerRetryPeriod : retryPeriodMs;
  }

  async #leadUntilOver(signal: AbortSignal, lead: Lead): Promise<'stopped' | 'lost'> {
    const leading = new AbortController();
    const renewing = new AbortController();
    const stop = (): void => leading.abort();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    this.#announceStart();
    const work = workEnd(lead, leading.signal).finally(stop);
    const renewal = this.#renew(renewing.signal).finally(stop);
    await untilAborted(leading.signal);
    const asked = signal.aborted;
    signal.removeEventListener('abort', stop);
    const ended = await this.#drain(work);
    renewing.abort();
    const kept = await renewal;
    await this.#stepDown(kept && ended?.end === 'drained');
    if (ended?.end === 'failed') throw ended.cause;
    return kept || asked ? 'stopped' : 'lost';
  }

  /** Renews until told to end (true) or until the lease is lost (false). Resolves no later than our own deadline. */
  async #renew(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const leftMs = this.#contender.heldUntilMs - clock.monotonicMs();
      await clock.sleep(Math.min(this.#settings.retryPeriodMs, leftMs), signal);
      // Before anything is sent: we may have been asleep for much longer than we asked.
      if (!this.holds()) return false;
      if (!signal.aborted) await this.#contender.attempt(signal);
      if (!this.holds()) return false;
    }
    return this.holds();
  }

  /** How the work ended, or undefined if it has not within the limit. */
  async #drain(work: Promise<Work>): Promise<Work | undefined> {
    const done = new AbortController();
    const patience = this.#options.clock.sleep(drainMsMax, done.signal).then(() => undefined);
    try {
      return await Promise.race([work, patience]);
    } finally {
      done.abort();
    }
  }

  async #stepDown(mayRelease: boolean): Promise<void> {
    const { logger, recorder } = this.#options;
    const { lease } = this.#contender;
    this.#showStatus(0);
    logger.info({ release: mayRelease }, 'stopped leading');
    if (lease !== undefined) recorder?.record(stoppedLeading(lease, this.#settings.identity));
    // Our claim still stands, so that this may be written.
    await this.#options.lastWords?.();
    if (mayRelease) await this.#contender.release();
  }

  #announceStart(): void {
    const { logger, recorder } = this.#options;
    const { lease } = this.#contender;
    this.#showStatus(1);
    logger.info({ identity: this.#settings.identity }, 'became leader');
    if (lease !== undefined) recorder?.record(becameLeader(lease, this.#settings.identity));
  }

  #showStatus(value: 0 | 1): void {
    this.#options.meter.set(masterStatus, value, { name: this.#settings.name });
  }
}

function settled({ identity, namespace, name, ...options }: ElectionOptions): ElectionSettings {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = { ...electionDefaults, ...options };
  return { identity, namespace, name, leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

async function workEnd(lead: Lead, signal: AbortSignal): Promise<Work> {
  try {
    return { end: await lead(signal) };
  } catch (cause) {
    return { end: 'failed', cause };
  }
}
