import type { Ambient } from '../ports/ambient.ts';
import { listenerErrors, listenerSeconds } from './metrics.ts';

/** A call that takes longer delays the event loop, the lease renewal included, and is logged. */
export const slowListenerMs = 250;
/** Minimum interval between two log lines about errors of one listener: it may throw at each of a million changes. */
export const errorLogEveryMs = 10_000;

export interface ListenerRecordOptions extends Ambient {
  readonly resource: string;
}

/** Cost of one listener: the time it takes, and its errors. */
export class ListenerRecord {
  readonly #options: ListenerRecordOptions;
  readonly #labels: { readonly resource: string; readonly listener: string };
  #errorLoggedAtMs = -Infinity;
  #unreported = 0;

  constructor(listener: string, options: ListenerRecordOptions) {
    this.#options = options;
    this.#labels = { resource: options.resource, listener };
  }

  observeDuration(ms: number, changes: number): void {
    const { logger, meter } = this.#options;
    meter.add(listenerSeconds, ms / 1_000, this.#labels);
    if (ms < slowListenerMs) return;
    logger.warn({ ...this.#labels, changes, tookMs: Math.round(ms) }, 'slow informer event handler');
  }

  countError(error: unknown, key: string): void {
    const { clock, logger, meter } = this.#options;
    meter.add(listenerErrors, 1, this.#labels);
    this.#unreported += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#errorLoggedAtMs < errorLogEveryMs) return;
    logger.error({ ...this.#labels, key, errors: this.#unreported, err: error }, 'informer event handler failed');
    this.#errorLoggedAtMs = nowMs;
    this.#unreported = 0;
  }
}
