// Whether a window can be reported: not if the load was not what it should be, or the API server was what was measured.
import type { LoadFigures } from './load-protocol.ts';

export interface LoadLimits {
  /** The load generator: how late renewals may be sent. */
  readonly latenessP99MsMax: number;
  /** The API server: how long a renewal may take. */
  readonly latencyP99MsMax: number;
}

export const steadyLimits: LoadLimits = { latenessP99MsMax: 100, latencyP99MsMax: 250 };
/** A zone loss is a burst of thousands of writes. The renewals of the other nodes must still arrive in time. */
export const burstLimits: LoadLimits = { latenessP99MsMax: 250, latencyP99MsMax: 2_000 };

/** Reasons not to report; none: the window is valid. */
export function assessSaturation(load: LoadFigures, limits: LoadLimits): readonly string[] {
  const { lateness, latency, skipped, failed, lastFailure } = load;
  return [
    ...above('load generator saturated: renewals sent late', lateness.p99, limits.latenessP99MsMax),
    ...above('API server saturated: renewals took', latency.p99, limits.latencyP99MsMax),
    ...(skipped === 0 ? [] : [`API server saturated: ${skipped} renewals skipped behind an unanswered one`]),
    ...(failed === 0 ? [] : [`${failed} requests of the load failed: ${lastFailure ?? ''}`]),
  ];
}

function above(what: string, p99Ms: number, maxMs: number): readonly string[] {
  return p99Ms <= maxMs ? [] : [`${what}, p99 ${Math.round(p99Ms)} ms (at most ${maxMs} ms)`];
}
