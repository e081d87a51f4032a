import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import { listenerErrors, listenerSeconds } from './metrics.ts';

/** A hand-over that takes longer has kept everybody waiting, the lease's renewal included, and is told. */
export const slowHandOverMs = 250;
/** What a listener throws is told once in this time: it may throw at each of a million changes. */
export const complaintEveryMs = 10_000;

export interface ListenerRecordOptions {
  readonly resource: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

/** What one listener costs: the time it takes, and what it throws. */
export class ListenerRecord {
  readonly #options: ListenerRecordOptions;
  readonly #labels: { readonly resource: string; readonly listener: string };
  #complainedAtMs = -Infinity;
  #untold = 0;

  constructor(listener: string, options: ListenerRecordOptions) {
    this.#options = options;
    this.#labels = { resource: options.resource, listener };
  }

  took(ms: number, changes: number): void {
    const { logger, meter } = this.#options;
    meter.add(listenerSeconds, ms / 1_000, this.#labels);
    if (ms < slowHandOverMs) return;
    logger.warn({ ...this.#labels, changes, tookMs: Math.round(ms) }, 'a listener kept everybody waiting');
  }

  threw(error: unknown, key: string): void {
    const { clock, logger, meter } = this.#options;
    meter.add(listenerErrors, 1, this.#labels);
    this.#untold += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#complainedAtMs < complaintEveryMs) return;
    logger.error({ ...this.#labels, key, errors: this.#untold, err: error }, 'a listener threw at a change');
    this.#complainedAtMs = nowMs;
    this.#untold = 0;
  }
}
