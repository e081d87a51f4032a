// Counts of the renewals and their delays, since the previous reading. Histograms have a fixed size.
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { LoadFigures } from './load-protocol.ts';

export class LoadMeter {
  #sinceMs = performance.now();
  #renewals = 0;
  #skipped = 0;
  #failed = 0;
  #lastFailure: string | undefined;
  #lateness = createHistogram();
  #latency = createHistogram();

  sent(lateMs: number): void {
    record(this.#lateness, lateMs);
  }

  skipped(): void {
    this.#skipped += 1;
  }

  renewed(tookMs: number): void {
    this.#renewals += 1;
    record(this.#latency, tookMs);
  }

  failed(error: unknown): void {
    this.#failed += 1;
    this.#lastFailure = error instanceof Error ? error.message : String(error);
  }

  /** The figures since the previous call. */
  read(): LoadFigures {
    const nowMs = performance.now();
    const figures: LoadFigures = {
      seconds: (nowMs - this.#sinceMs) / 1_000,
      renewals: this.#renewals,
      skipped: this.#skipped,
      failed: this.#failed,
      lastFailure: this.#lastFailure,
      lateness: delaysIn(this.#lateness),
      latency: delaysIn(this.#latency),
    };
    this.#sinceMs = nowMs;
    this.#renewals = this.#skipped = this.#failed = 0;
    this.#lateness = createHistogram();
    this.#latency = createHistogram();
    return figures;
  }
}

/** In microseconds, at least 1. */
function record(histogram: RecordableHistogram, ms: number): void {
  histogram.record(Math.max(1, Math.round(ms * 1_000)));
}

function delaysIn(histogram: RecordableHistogram): LoadFigures['latency'] {
  if (histogram.count === 0) return { p50: 0, p99: 0, max: 0 };
  return {
    p50: histogram.percentile(50) / 1_000,
    p99: histogram.percentile(99) / 1_000,
    max: histogram.max / 1_000,
  };
}
