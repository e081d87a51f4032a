import type { Clock } from '../ports/clock.ts';
import { LinkedAbort } from '../supervision/abort.ts';
import type { InformerStatus } from './informer.ts';

interface WatchGuardOptions {
  readonly clock: Clock;
  /** Cancelled together with this one. */
  readonly signal: AbortSignal;
  /** Milliseconds without events after which the stream counts as dead; it may change while the stream lasts. */
  readonly quietMsMax: () => number;
  /** Age after which the stream is ended, in case the server does not end it; it may change while the stream lasts. */
  readonly ageMsMax: () => number;
}

/** Interval at which the limits are read again. */
const recheckMs = 5_000;

/**
 * Ends a silent watch. A connection can be dead without an error: the peer is gone, or a middlebox drops all packets.
 * Bookmarks arrive every minute, so a longer silence means that the connection is dead.
 */
export class WatchGuard {
  readonly #options: WatchGuardOptions;
  readonly #link: LinkedAbort;
  readonly #openedAtMs: number;
  #lastFrameAtMs: number;
  #tripped = false;
  readonly #watching: Promise<void>;

  constructor(options: WatchGuardOptions) {
    this.#options = options;
    this.#openedAtMs = options.clock.monotonicMs();
    this.#lastFrameAtMs = this.#openedAtMs;
    this.#link = new LinkedAbort(options.signal);
    this.#watching = this.#watch();
  }

  /** Signal of the watch: aborts when the guard trips, when the outer signal aborts, and on {@link close}. */
  get signal(): AbortSignal {
    return this.#link.signal;
  }

  /** Whether the guard ended the stream. */
  get tripped(): boolean {
    return this.#tripped;
  }

  /** Ends the stream now; for a caller that detected the dead connection earlier. */
  trip(): void {
    if (this.signal.aborted) return;
    this.#tripped = true;
    this.#link.abort();
  }

  frameReceived(): void {
    this.#lastFrameAtMs = this.#options.clock.monotonicMs();
  }

  /** Resolves when all work of the guard has ended. */
  async close(): Promise<void> {
    this.#link.release();
    this.#link.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { clock } = this.#options;
    for (let leftMs = this.#leftMs(); leftMs > 0; leftMs = this.#leftMs()) {
      await clock.sleep(Math.min(leftMs, recheckMs), this.signal);
      if (this.signal.aborted) return;
    }
    this.trip();
  }

  #leftMs(): number {
    const { clock, quietMsMax, ageMsMax } = this.#options;
    const untilMs = Math.min(this.#lastFrameAtMs + quietMsMax(), this.#openedAtMs + ageMsMax());
    return untilMs - clock.monotonicMs();
  }
}

/** State of the stream behind an informer, updated by its reflector. */
export class StreamRecord implements InformerStatus {
  readonly #clock: Clock;
  state: InformerStatus['state'] = 'idle';
  stateSinceMs = -Infinity;
  synced = false;
  lastFrameAtMs: number | undefined;
  lastListAtMs: number | undefined;
  lastListSentAtMs: number | undefined;
  restoredAtMs: number | undefined;
  consecutiveFailures = 0;
  resourceVersion = '';
  /** When it was at this version, at the latest. */
  reachedAtMs = -Infinity;
  lastError: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  enter(state: InformerStatus['state']): void {
    this.state = state;
    this.stateSinceMs = this.#clock.monotonicMs();
  }

  /** Records a received frame: server and connection are alive. */
  frameReceived(): void {
    this.lastFrameAtMs = this.#clock.monotonicMs();
    this.consecutiveFailures = 0;
  }

  /** `sentAtMs` is undefined if the server may have sent an older state than its most recent. */
  listed(resourceVersion: string, sentAtMs: number | undefined): void {
    this.lastListAtMs = this.#clock.monotonicMs();
    this.lastListSentAtMs = sentAtMs;
    this.synced = true;
    this.reached(resourceVersion);
    this.enter('watching');
  }

  restored(): void {
    this.restoredAtMs = this.#clock.monotonicMs();
  }

  reached(resourceVersion: string): void {
    if (resourceVersion === this.resourceVersion) return;
    this.resourceVersion = resourceVersion;
    this.reachedAtMs = this.#clock.monotonicMs();
  }

  /** Milliseconds since the last complete state; infinite before the first. */
  listAgeMs(): number {
    return this.lastListAtMs === undefined ? Infinity : this.#clock.monotonicMs() - this.lastListAtMs;
  }

  failed(message: string): void {
    this.consecutiveFailures += 1;
    this.lastError = message;
  }
}
