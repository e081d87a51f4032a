export interface ReportInput {
  readonly changed: boolean;
  /** Monotonic. */
  readonly nowMs: number;
  /** Monotonic time of the last report that was written; undefined before the first. */
  readonly lastReportAtMs: number | undefined;
  /** Added to the report frequency; the value that the last decision returned. */
  readonly delayMs: number;
  readonly reportFrequencyMs: number;
  /** Uniform in [0, 1). */
  readonly chance: number;
}

interface ReportDecision {
  readonly report: boolean;
  readonly delayMs: number;
}

/**
 * Decides whether the status is written this time: if it changed, or if the last report is old enough. A report because
 * of a change moves the next periodic one by up to half a period either way, so that nodes which changed together do
 * not keep reporting together; a report that was due leaves the period unchanged (kubelet `updateNodeStatus`,
 * `delayAfterNodeStatusChange`).
 */
export function decideReport(input: ReportInput): ReportDecision {
  const { changed, nowMs, lastReportAtMs, delayMs, reportFrequencyMs, chance } = input;
  if (changed || lastReportAtMs === undefined) return { report: true, delayMs: reportFrequencyMs * (chance - 0.5) };
  const expired = nowMs - lastReportAtMs >= reportFrequencyMs + delayMs;
  return expired ? { report: true, delayMs: 0 } : { report: false, delayMs };
}
