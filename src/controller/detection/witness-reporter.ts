import { ApiError } from '../../machinery/api/api-error.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Logger } from '../../machinery/ports/logger.ts';
import { callWithin } from '../../machinery/supervision/call-within.ts';
import type { WitnessReport, WitnessReports } from '../model/detection.ts';

const reportMsMax = 2_000;
/** The same report is written again after this time: the leader ignores one that gets old, and another standby may have replaced it. */
const reportAgainMs = 10_000;
/** Between two writes, and after one that failed. */
const betweenMs = 1_000;
const retryMs = 5_000;

interface WitnessReporterOptions {
  readonly reports: WitnessReports;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Writes what a standby found, whenever it changes. */
export class WitnessReporter {
  readonly #options: WitnessReporterOptions;
  #written: WitnessReport['unanswered'] = new Map();
  #writtenAtMs = -Infinity;
  #nextAtMs = -Infinity;
  #hasFailed = false;

  constructor(options: WitnessReporterOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#written.size;
  }

  /** What is written counts for seconds only, and is written again where it is still so. */
  forgetAll(): void {
    this.#written = new Map();
  }

  /** Writes the report if it has changed or gets old. Never rejects. */
  async report(unanswered: WitnessReport['unanswered'], signal: AbortSignal): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    const isOld = unanswered.size > 0 && nowMs - this.#writtenAtMs >= reportAgainMs;
    if (nowMs < this.#nextAtMs || (areEqual(unanswered, this.#written) && !isOld)) return;
    this.#nextAtMs = nowMs + betweenMs;
    try {
      await callWithin({ clock: this.#options.clock, ms: reportMsMax, signal }, (within) =>
        this.#write(unanswered, within),
      );
      this.#hasFailed = false;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Another standby has created the report at the same moment: the next attempt finds it.
      if (signal.aborted || error.reason === 'already-exists') return;
      this.#nextAtMs = nowMs + retryMs;
      this.#warn(error);
    }
  }

  async #write(unanswered: WitnessReport['unanswered'], signal: AbortSignal): Promise<void> {
    const { reports, clock } = this.#options;
    await reports.write(unanswered, signal);
    this.#written = unanswered;
    this.#writtenAtMs = clock.monotonicMs();
  }

  /** Once for a row of failures. */
  #warn({ reason, message }: ApiError): void {
    if (!this.#hasFailed)
      this.#options.logger.warn({ reason, error: message }, 'failed to report nodes that do not answer');
    this.#hasFailed = true;
  }
}

function areEqual(a: WitnessReport['unanswered'], b: WitnessReport['unanswered']): boolean {
  return a.size === b.size && [...a].every(([node, heartbeat]) => b.get(node) === heartbeat);
}
