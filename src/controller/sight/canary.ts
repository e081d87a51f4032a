// A stream can be alive and late: an API server whose cache lags goes on sending, old news. Only who writes something
// and waits for it to come back can tell.
import { apiReason } from '../../api/api-error.ts';
import { objectKey } from '../../api/object-key.ts';
import { canaryLeaseName, nodeLeaseNamespace } from '../../api/resources.ts';
import { isOlder } from '../../informer/decide-staleness.ts';
import type { Informer } from '../../informer/informer.ts';
import type { LeaseView } from '../../api/lease.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Meter } from '../../ports/meter.ts';
import type { CanaryLease } from '../../ports/sight.ts';
import { canaryLatency } from './metrics.ts';

/** Between a write that came back and the next one. */
export const canaryPeriodMs = 5_000;
const lookMs = 1_000;

export interface CanaryOptions {
  readonly lease: CanaryLease;
  readonly leases: Pick<Informer<LeaseView>, 'onChange' | 'status'>;
  /** A write that the stream has not shown by then means that it lags. */
  readonly behindAfterMs: number;
  /** Opens all streams anew: another API server may be further on. */
  readonly reopen: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

interface Pending {
  readonly version: string;
  readonly acknowledgedAtMs: number;
}

/**
 * Writes a lease of our own beside those of the nodes and measures how long it takes until our stream shows it. Writes
 * that fail say nothing about the stream and count for nothing; where we may not write it ends, with one warning.
 */
export class Canary {
  readonly #options: CanaryOptions;
  #pending: Pending | undefined;
  #shown = '';
  #touchedAtMs = -Infinity;
  #told = false;

  constructor(options: CanaryOptions) {
    this.#options = options;
  }

  /** The stream lacks what the API server acknowledged to us too long ago. */
  isBehind(): boolean {
    this.#settle(this.#options.leases.status().resourceVersion);
    if (this.#pending === undefined) return false;
    return this.#nowMs() - this.#pending.acknowledgedAtMs > this.#options.behindAfterMs;
  }

  /** Until the signal aborts, or until we learn that we may not. */
  async run(signal: AbortSignal): Promise<void> {
    const leave = this.#options.leases.onChange('watch-canary', ({ key, object }) => {
      if (key === objectKey(nodeLeaseNamespace, canaryLeaseName)) this.#settle(object.resourceVersion);
    });
    for (let permitted = true; permitted && !signal.aborted; ) {
      permitted = await this.#look(signal);
      if (permitted) await this.#options.clock.sleep(lookMs, signal);
    }
    leave();
    this.#pending = undefined;
  }

  async #look(signal: AbortSignal): Promise<boolean> {
    if (this.isBehind()) this.#tell();
    const due = this.#pending === undefined && this.#nowMs() - this.#touchedAtMs >= canaryPeriodMs;
    return due ? this.#touch(signal) : true;
  }

  /** False where it is forbidden. */
  async #touch(signal: AbortSignal): Promise<boolean> {
    const { lease, logger } = this.#options;
    this.#touchedAtMs = this.#nowMs();
    try {
      const version = await lease.touch(signal);
      this.#pending = { version, acknowledgedAtMs: this.#nowMs() };
      this.#settle(this.#shown);
    } catch (error) {
      if (apiReason(error) !== 'forbidden') {
        logger.debug({ err: error }, 'the canary lease could not be written');
        return true;
      }
      const missing = `create and patch of leases in ${nodeLeaseNamespace}`;
      logger.warn({ missing }, 'the watch canary is off: it is not permitted');
      return false;
    }
    return true;
  }

  /** The stream has come to this version. It may do so before the answer to our write is here. */
  #settle(shown: string): void {
    if (this.#shown === '' || isOlder(this.#shown, shown)) this.#shown = shown;
    const { meter, logger } = this.#options;
    if (this.#pending === undefined || isOlder(this.#shown, this.#pending.version)) return;
    meter.observe(canaryLatency, (this.#nowMs() - this.#pending.acknowledgedAtMs) / 1_000);
    this.#pending = undefined;
    if (this.#told) logger.info({}, 'the stream of leases has caught up');
    this.#told = false;
  }

  #tell(): void {
    if (this.#told) return;
    this.#told = true;
    this.#options.logger.warn({}, 'the stream of leases is alive and behind: it is opened anew');
    this.#options.reopen();
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}
