import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { PluginCredential } from './exec-credential.ts';

/** A credential is replaced in the background from this long before it expires. */
export const pluginLeewayMs = 10_000;
/** Minimum time between two runs, unless the server rejects the first credential: for credentials that expire at once. */
export const pluginPauseMs = 10_000;
/** Backoff after a failure, and after a replacement of a rejected credential is rejected too; doubles each time. */
export const pluginBackoffMsMin = 1_000;
export const pluginBackoffMsMax = 60_000;

interface ExecPluginOptions {
  /** For the log. */
  readonly command: string;
  /** Runs the plugin once, for a bounded time. */
  readonly obtain: () => Promise<PluginCredential>;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/** `soon`: it is valid, and expires within {@link pluginLeewayMs}. */
type Validity = 'none' | 'valid' | 'soon' | 'refused' | 'expired';

/**
 * The credential of a plugin (`client.authentication.k8s.io`). One process at a time, shared by all callers; its result is
 * kept until shortly before it expires, when it is replaced in the background, or until the server rejects it. A plugin
 * that fails, or whose credentials are rejected, is run again after a backoff.
 */
export class ExecPlugin {
  readonly #options: ExecPluginOptions;
  #credential: PluginCredential | undefined;
  #obtainedAtMs = -Infinity;
  #isRejected = false;
  #running: Promise<PluginCredential> | undefined;
  #failure: unknown;
  /** Consecutive failures. */
  #failures = 0;
  #rejections = 0;
  /** Earliest monotonic time of the next run. */
  #notBeforeMs = -Infinity;

  constructor(options: ExecPluginOptions) {
    this.#options = options;
  }

  /**
   * Resolves with a credential that has neither expired nor been rejected; with a rejected one while no other can be
   * obtained: the rejection may have been a mistake. Rejects with the error of the last run.
   */
  async current(): Promise<PluginCredential> {
    const credential = this.#credential;
    const validity = this.#validity();
    if (validity !== 'valid' && this.#mayRun()) this.#start();
    if (credential !== undefined && (validity === 'valid' || validity === 'soon')) return credential;
    if (this.#running !== undefined) return this.#running;
    if (credential !== undefined && (validity === 'refused' || this.#failure === undefined)) return credential;
    throw this.#failure;
  }

  /**
   * The server rejected this token, or a request without one. True if {@link current} may return another one; false while
   * the plugin must not be run yet.
   */
  refused(token: string | undefined): boolean {
    if (this.#credential === undefined || token !== this.#credential.token) return true;
    if (!this.#isRejected) this.#noteRejection();
    return this.#running !== undefined || this.#mayRun();
  }

  #validity(): Validity {
    if (this.#credential === undefined) return 'none';
    const leftMs = (this.#credential.expiresAtMs ?? Infinity) - this.#options.clock.nowMs();
    if (leftMs <= 0) return 'expired';
    if (this.#isRejected) return 'refused';
    return leftMs <= pluginLeewayMs ? 'soon' : 'valid';
  }

  #mayRun(): boolean {
    return this.#running === undefined && this.#options.clock.monotonicMs() >= this.#notBeforeMs;
  }

  #start(): void {
    const running = this.#obtain().finally(() => {
      this.#running = undefined;
    });
    // A background run has no caller to handle its error, which is recorded.
    running.catch(() => undefined);
    this.#running = running;
  }

  async #obtain(): Promise<PluginCredential> {
    try {
      const credential = await this.#options.obtain();
      this.#store(credential);
      return credential;
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
  }

  #store(credential: PluginCredential): void {
    this.#credential = credential;
    this.#isRejected = false;
    this.#failure = undefined;
    this.#failures = 0;
    this.#obtainedAtMs = this.#options.clock.monotonicMs();
    this.#notBeforeMs = this.#obtainedAtMs + pluginPauseMs;
  }

  #noteFailure(error: unknown): void {
    const { clock, command, logger } = this.#options;
    this.#failure = error;
    this.#failures += 1;
    const retryAfterMs = backoffMs(this.#failures);
    this.#notBeforeMs = clock.monotonicMs() + retryAfterMs;
    // The first failure is returned to the caller.
    if (this.#credential !== undefined) logger?.warn({ command, retryAfterMs, err: error }, 'credential plugin failed');
  }

  /** After the first rejection the plugin is run again at once: the credential may have been revoked. */
  #noteRejection(): void {
    this.#isRejected = true;
    const wasAccepted = this.#options.clock.monotonicMs() - this.#obtainedAtMs > pluginBackoffMsMax;
    if (wasAccepted) this.#rejections = 0;
    if (this.#failure === undefined) this.#notBeforeMs = this.#obtainedAtMs + backoffMs(this.#rejections);
    this.#rejections += 1;
  }
}

/** 0 for none, then doubled from the minimum to the maximum. */
function backoffMs(times: number): number {
  return times === 0 ? 0 : Math.min(pluginBackoffMsMin * 2 ** (times - 1), pluginBackoffMsMax);
}
