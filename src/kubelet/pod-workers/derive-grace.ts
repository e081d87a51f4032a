import type { Pod } from '../../api/pod.ts';

/** A grace period is never shorter. */
const graceSecondsMin = 1;

/**
 * The grace period of a pod that is being terminated, in seconds: it can only shrink. `current` is what it has already,
 * `asked` what a part of the kubelet wants; 0 means that nothing was said (kubelet `calculateEffectiveGracePeriod`).
 */
export function deriveGraceSeconds(pod: Pod | undefined, current: number, asked: number | undefined): number {
  const wishes = [current, pod?.metadata.deletionGracePeriodSeconds ?? 0, asked ?? 0].filter((wish) => wish > 0);
  const grace = wishes.length === 0 ? (pod?.spec?.terminationGracePeriodSeconds ?? 0) : Math.min(...wishes);
  return Math.max(grace, graceSecondsMin);
}
