/** What the checks of a drill read, and what they find. */
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import type { EvictionRate } from '../policy-zones.ts';
import type { Drill } from './drill-plan.ts';
import type { DrillRecord } from './drill-record.ts';

export interface DrillViolation {
  readonly invariant: string;
  readonly subject: string;
  readonly text: string;
}

/** The times are virtual. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface DrillContext {
  readonly drill: Drill;
  readonly record: DrillRecord;
  readonly span: Span;
  readonly options: ControllerOptions;
  /** The grace period in force for a node at the end of the drill. */
  readonly graceMsOf: (node: string) => number;
  /** Eviction rates of a zone, by time. */
  readonly rates: (zone: string) => readonly EvictionRate[];
  /** Time within which a due act is done: latencies, a read of the lease, the rate limit of requests. */
  readonly slackMs: number;
  /** A heartbeat that was committed so short a time before a write may not be known to the controller. */
  readonly knownMs: number;
  /** A request may have waited so long for the limit of the client. */
  readonly waitsMs: number;
}
