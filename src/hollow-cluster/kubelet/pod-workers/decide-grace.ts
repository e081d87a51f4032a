import type { Pod } from '../../../machinery/api/pod.ts';

/** Minimum grace period. */
const graceSecondsMin = 1;

/**
 * The grace period of a pod that is being terminated, in seconds: it can only shrink. `current` is its present grace
 * period, `requested` the new one; 0 means unset (kubelet `calculateEffectiveGracePeriod`).
 */
export function decideGraceSeconds(pod: Pod | undefined, current: number, requested: number | undefined): number {
  const candidates = [current, pod?.metadata.deletionGracePeriodSeconds ?? 0, requested ?? 0].filter(
    (seconds) => seconds > 0,
  );
  const grace = candidates.length === 0 ? (pod?.spec?.terminationGracePeriodSeconds ?? 0) : Math.min(...candidates);
  return Math.max(grace, graceSecondsMin);
}
