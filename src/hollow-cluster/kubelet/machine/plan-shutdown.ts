import type { Pod } from '../../../machinery/api/pod.ts';
import { systemCriticalPriority } from '../pod-config/classify-pod.ts';

/** Pods with at least this priority, up to the priority of the next group, and their grace period. */
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
  /** The next stage begins after this, or when all pods of this one have terminated. */
  readonly periodMs: number;
  readonly stops: readonly PlannedStop[];
}

/**
 * The groups of a configuration that has only the total period and that of critical pods; none without a period
 * (kubelet `migrateConfig`).
 */
export function planShutdownGroups(config: {
  readonly shutdownGracePeriodMs: number;
  readonly shutdownGracePeriodCriticalPodsMs: number;
}): readonly ShutdownGroup[] {
  const { shutdownGracePeriodMs: totalMs, shutdownGracePeriodCriticalPodsMs: criticalMs } = config;
  if (totalMs === 0 || criticalMs > totalMs) return [];
  return [
    { priority: 0, periodMs: totalMs - criticalMs },
    { priority: systemCriticalPriority, periodMs: criticalMs },
  ];
}

/**
 * The pods to stop at a shutdown, lowest priority first; groups without pods take no time. No pod gets more than the
 * period of its group or its own grace period (kubelet `killPods`, `groupByPriority`).
 */
export function planShutdown(groups: readonly ShutdownGroup[], pods: readonly Pod[]): readonly ShutdownStage[] {
  return groups
    .map((group, index) => ({
      periodMs: group.periodMs,
      stops: pods.filter((pod) => groupIndexOf(groups, pod) === index).map((pod) => planStop(pod, group)),
    }))
    .filter(({ stops }) => stops.length > 0);
}

/** The last group that begins at or below the pod's priority; the first group for a pod below all of them. */
function groupIndexOf(groups: readonly ShutdownGroup[], pod: Pod): number {
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
