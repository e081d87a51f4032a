import type { Pod } from '../../api/pod.ts';
import { systemCriticalPriority } from '../pod-config/classify-pod.ts';

/** Pods from this priority on, up to that of the next group, and how long they get. */
export interface ShutdownGroup {
  readonly priority: number;
  readonly periodMs: number;
}

export interface PlannedStop {
  readonly pod: Pod;
  readonly graceMs: number;
}

/** Pods that are stopped at the same time. */
export interface ShutdownStage {
  /** The next stage begins after this, or when all of this one have ended. */
  readonly periodMs: number;
  readonly stops: readonly PlannedStop[];
}

/** The groups of a configuration that only knows the whole period and the part of critical pods; none for no period (kubelet `migrateConfig`). */
export function planShutdownGroups(config: {
  readonly shutdownGracePeriodMs: number;
  readonly shutdownGracePeriodCriticalPodsMs: number;
  readonly shutdownGracePeriodByPodPriority: readonly ShutdownGroup[];
}): readonly ShutdownGroup[] {
  const { shutdownGracePeriodMs: totalMs, shutdownGracePeriodCriticalPodsMs: criticalMs } = config;
  const { shutdownGracePeriodByPodPriority: groups } = config;
  if (groups.length > 0) return groups.toSorted((a, b) => a.priority - b.priority);
  if (totalMs === 0 || criticalMs > totalMs) return [];
  return [
    { priority: 0, periodMs: totalMs - criticalMs },
    { priority: systemCriticalPriority, periodMs: criticalMs },
  ];
}

/**
 * Who is stopped when a machine goes down, the least important first; groups without pods take no time. Nobody gets more
 * than its group has, or more than it asked for (kubelet `killPods`, `groupByPriority`).
 */
export function planShutdown(groups: readonly ShutdownGroup[], pods: readonly Pod[]): readonly ShutdownStage[] {
  return groups
    .map((group, place) => ({
      periodMs: group.periodMs,
      stops: pods.filter((pod) => placeOf(groups, pod) === place).map((pod) => planStop(pod, group)),
    }))
    .filter(({ stops }) => stops.length > 0);
}

/** The last group that begins at or below the pod's priority; the first for one below them all. */
function placeOf(groups: readonly ShutdownGroup[], pod: Pod): number {
  const priority = pod.spec?.priority ?? 0;
  return Math.max(
    0,
    groups.findLastIndex((group) => group.priority <= priority),
  );
}

function planStop(pod: Pod, { periodMs }: ShutdownGroup): PlannedStop {
  const own = pod.spec?.terminationGracePeriodSeconds;
  return { pod, graceMs: own === undefined ? periodMs : Math.min(own * 1_000, periodMs) };
}
