import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { ApiContact } from '../supervision/api-contact.ts';

export const retryMsMin = 800;
export const retryMsMax = 30_000;
/** Without a complete state a process can do nothing, and one more request every few seconds costs little. */
export const unsyncedRetryMsMax = 2_500;
export const retryResetMs = 120_000;
/** Maximum accepted Retry-After; a longer one comes from a date on a wrong clock and would pause the watch for hours. */
export const retryAfterMsMax = 60_000;
/** Informers whose backoffs end together begin within this time. */
export const restoredJitterMs = 1_000;
const growth = 2;
/** A delay of d becomes one in [d, 2d), so that clients that failed together do not retry together. */
const jitter = 1;

/** Delay before the next attempt (client-go `NewReflectorBackoff`). */
export class RetryDelay {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #contact: ApiContact;
  #baseMs = retryMsMin;
  #lastCallMs: number | undefined;

  constructor(clock: Clock, random: Random, contact: ApiContact) {
    this.#clock = clock;
    this.#random = random;
    this.#contact = contact;
  }

  /**
   * Milliseconds; grows with each call to `msMax`, and starts over after two minutes without one, and if contact was restored
   * since `unansweredAtMs`, when an attempt began to which no answer came. At least the delay that the server requested, up to
   * {@link retryAfterMsMax}; any number is accepted as a request.
   */
  nextMs(retryAfterMs = 0, msMax = retryMsMax, unansweredAtMs = Infinity): number {
    if (this.#contact.restoredSince(unansweredAtMs)) this.#baseMs = retryMsMin;
    return Math.max(this.#backoffMs(msMax), requestedMs(retryAfterMs));
  }

  /**
   * Sleeps for `delayMs`, which {@link nextMs} returned. Ends soon after contact with the API server was restored, but not
   * before the delay that the server requested; the next delay is a short one then.
   */
  async wait(delayMs: number, retryAfterMs: number | undefined, signal: AbortSignal): Promise<void> {
    const startedAtMs = this.#clock.monotonicMs();
    if (!(await this.#contact.sleep(delayMs, signal))) return;
    this.#baseMs = retryMsMin;
    const sleptMs = this.#clock.monotonicMs() - startedAtMs;
    const soonMs = Math.max(restoredJitterMs * this.#random.next(), requestedMs(retryAfterMs) - sleptMs);
    await this.#clock.sleep(Math.min(soonMs, delayMs - sleptMs), signal);
  }

  #backoffMs(msMax: number): number {
    const nowMs = this.#clock.monotonicMs();
    if (this.#lastCallMs !== undefined && nowMs - this.#lastCallMs > retryResetMs) this.#baseMs = retryMsMin;
    this.#lastCallMs = nowMs;
    const delayMs = Math.min(this.#baseMs, msMax) * (1 + jitter * this.#random.next());
    this.#baseMs = Math.min(this.#baseMs * growth, retryMsMax);
    return delayMs;
  }
}

function requestedMs(retryAfterMs = 0): number {
  return retryAfterMs > 0 ? Math.min(retryAfterMs, retryAfterMsMax) : 0;
}
