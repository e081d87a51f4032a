import type { SightLimits } from './sight-clock.ts';

export interface SightPlan extends SightLimits {
  /** Ask the API server when nothing was heard of it for this long. */
  readonly probeAfterMs: number;
  readonly probeTimeoutMs: number;
  readonly lookEveryMs: number;
}

const contactMsLimits = { min: 1_000, max: 5_000 } as const;
/** A kubelet renews its lease every 10 s, give or take. */
const observeMsMax = 12_000;

/**
 * How closely to watch our own eyes: the grace period sets the scale. Blindness must show well within it, or a healthy
 * node could use up its grace before we know that we see nothing.
 */
export function planSight(nodeMonitorGracePeriodMs: number): SightPlan {
  const scaledMs = nodeMonitorGracePeriodMs / 8;
  const contactMsMax = Math.min(contactMsLimits.max, Math.max(contactMsLimits.min, scaledMs));
  return {
    contactMsMax,
    observeMs: Math.min(observeMsMax, nodeMonitorGracePeriodMs / 4),
    probeAfterMs: contactMsMax / 2,
    probeTimeoutMs: contactMsMax,
    lookEveryMs: contactMsMax / 4,
  };
}
