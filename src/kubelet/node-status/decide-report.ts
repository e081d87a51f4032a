export interface ReportQuestion {
  readonly changed: boolean;
  /** Monotonic. */
  readonly nowMs: number;
  /** Monotonic time of the last report that arrived; undefined before the first. */
  readonly lastReportAtMs: number | undefined;
  /** Added to the report frequency; the answer's own, from last time. */
  readonly delayMs: number;
  readonly reportFrequencyMs: number;
  /** Uniform in [0, 1). */
  readonly chance: number;
}

export interface ReportDecision {
  readonly report: boolean;
  readonly delayMs: number;
}

/**
 * Is the status written this time? When it changed, or when the last report is old enough. A report that a change
 * called for moves the next periodic one by up to half a period either way, so that nodes which changed together do not
 * go on reporting together; one that was due by age leaves the rhythm as it is (kubelet `updateNodeStatus`,
 * `delayAfterNodeStatusChange`).
 */
export function decideReport(question: ReportQuestion): ReportDecision {
  const { changed, nowMs, lastReportAtMs, delayMs, reportFrequencyMs, chance } = question;
  if (changed || lastReportAtMs === undefined) return { report: true, delayMs: reportFrequencyMs * (chance - 0.5) };
  const expired = nowMs - lastReportAtMs >= reportFrequencyMs + delayMs;
  return expired ? { report: true, delayMs: 0 } : { report: false, delayMs };
}
