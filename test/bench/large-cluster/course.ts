// The course of a measurement over time.
import type { StubReport } from './stub-protocol.ts';

/** One second. Times are seconds since the start of the process. */
export interface Sample {
  readonly atSeconds: number;
  /** cores used since the previous sample. */
  readonly cores: number;
  readonly rssMb: number;
}

/** Delays of the event loop in one second. */
export interface LoopSample {
  readonly atSeconds: number;
  readonly maxMs: number;
  readonly p99Ms: number;
}

export interface Course {
  readonly nodes: number;
  readonly pods: number;
  readonly rate: number;
  /** From the start of the process until its caches were in sync. */
  readonly syncedAtSeconds: number;
  /** Before that the process settled. */
  readonly measuredFromSeconds: number;
  readonly peakRssMb: number;
  readonly samples: readonly Sample[];
  readonly loop: readonly LoopSample[];
  readonly lags: readonly { readonly atSeconds: number; readonly lagMs: number }[];
  readonly stub: Omit<StubReport, 'lags'>;
}
