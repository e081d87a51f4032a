import type { Pod } from '../../api/pod.ts';
import { parseTimestamp } from '../../api/timestamps.ts';

/** What is said of a pod that was active for too long. */
export const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/** Wall time at which a pod's active deadline passes; undefined: it has none, or has not started. */
export function deriveDeadlineMs(pod: Pod, startTime: string | undefined): number | undefined {
  const seconds = pod.spec?.activeDeadlineSeconds;
  const startedAtMs = parseTimestamp(startTime);
  return seconds === undefined || startedAtMs === undefined ? undefined : startedAtMs + seconds * 1_000;
}

/** Has it been active for as long as it may (kubelet `activeDeadlineHandler`)? `nowMs` is wall time. */
export function isPastDeadline(pod: Pod, startTime: string | undefined, nowMs: number): boolean {
  const deadlineMs = deriveDeadlineMs(pod, startTime);
  return deadlineMs !== undefined && nowMs >= deadlineMs;
}
