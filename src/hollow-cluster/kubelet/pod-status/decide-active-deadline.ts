import type { Pod } from '../../../machinery/api/pod.ts';
import { parseTimestamp } from '../../../machinery/api/timestamps.ts';

/** Status of a pod that was active for too long. */
export const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/** Wall time of a pod's active deadline; undefined if it has none or has not started. */
export function deadlineMsOf(pod: Pod, startTime: string | undefined): number | undefined {
  const seconds = pod.spec?.activeDeadlineSeconds;
  const startedAtMs = parseTimestamp(startTime);
  return seconds === undefined || startedAtMs === undefined ? undefined : startedAtMs + seconds * 1_000;
}

/** True if the active deadline has passed (kubelet `activeDeadlineHandler`). `nowMs` is wall time. */
export function isPastDeadline(pod: Pod, startTime: string | undefined, nowMs: number): boolean {
  const deadlineMs = deadlineMsOf(pod, startTime);
  return deadlineMs !== undefined && nowMs >= deadlineMs;
}
