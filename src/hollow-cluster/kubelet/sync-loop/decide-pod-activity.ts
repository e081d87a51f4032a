import type { Pod } from '../../../machinery/api/pod.ts';
import { hasEnded } from '../pod-config/classify-pod.ts';

/** State of pods beyond what the sources have. */
interface PodKnowledge {
  readonly workers: { isTerminated(uid: string): boolean; isTerminationRequested(uid: string): boolean };
  readonly statuses: { status(uid: string): Pod['status'] | undefined };
}

/**
 * True if this pod uses the node or will use it. Rejected and ended pods do not, except while they are terminating
 * (kubelet `filterOutInactivePods`).
 */
export function isPodActive(pod: Pod, { workers, statuses }: PodKnowledge): boolean {
  const uid = pod.metadata.uid ?? '';
  if (workers.isTerminated(uid)) return false;
  const status = statuses.status(uid);
  const ended = hasEnded(pod) || (status !== undefined && hasEnded({ ...pod, status }));
  return !ended || workers.isTerminationRequested(uid);
}
