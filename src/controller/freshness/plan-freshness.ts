import type { FreshnessLimits } from './fresh-clock.ts';

export interface FreshnessPlan extends FreshnessLimits {
  /** Probe the API server after this time without contact. */
  readonly probeAfterMs: number;
  readonly probeTimeoutMs: number;
  readonly checkEveryMs: number;
}

const contactMsLimits = { min: 1_000, max: 5_000 } as const;
/** A kubelet renews its lease about every 10 s. */
const observeMsMax = 12_000;

/** Default renew interval of a kubelet. */
const renewalMs = 10_000;

/** Number of consecutive renewals that do not fail by chance. */
const gapsMissed = 50;

const quietMsMin = 5_000;

/**
 * Limits for detecting stale watches, scaled by the grace period. Staleness must be detected well within it, or a
 * healthy node could exceed its grace period before the watches are known to be stale.
 */
export function planFreshness(nodeMonitorGracePeriodMs: number): FreshnessPlan {
  const scaledMs = nodeMonitorGracePeriodMs / 8;
  const contactMsMax = Math.min(contactMsLimits.max, Math.max(contactMsLimits.min, scaledMs));
  return {
    contactMsMax,
    observeMs: Math.min(observeMsMax, nodeMonitorGracePeriodMs / 4),
    listedMsMax: nodeMonitorGracePeriodMs / 4,
    probeAfterMs: contactMsMax / 2,
    probeTimeoutMs: contactMsMax,
    checkEveryMs: contactMsMax / 4,
  };
}

/**
 * Time without a frame after which the lease watch counts as dead: fifty times the expected interval between two
 * renewals, and at least five seconds. With a hundred nodes a dead watch is detected after five seconds; with a few
 * nodes the general limit of a watch applies first.
 */
export function planLeaseQuiet(leases: number): number {
  return leases === 0 ? Infinity : Math.max(quietMsMin, (gapsMissed * renewalMs) / leases);
}
