import type { Pod } from '../../api/pod.ts';
import { hasEnded } from '../pod-config/classify-pod.ts';

/** What is known of pods beside what the sources say. */
export interface PodKnowledge {
  readonly workers: { isTerminated(uid: string): boolean; isTerminationRequested(uid: string): boolean };
  readonly statuses: { status(uid: string): Pod['status'] | undefined };
}

/**
 * Does this pod use the node, or will it? One that was rejected does not, nor one that has ended, unless it is still on
 * its way out (kubelet `filterOutInactivePods`).
 */
export function isPodActive(pod: Pod, { workers, statuses }: PodKnowledge): boolean {
  const uid = pod.metadata.uid ?? '';
  if (workers.isTerminated(uid)) return false;
  const told = statuses.status(uid);
  const ended = hasEnded(pod) || (told !== undefined && hasEnded({ ...pod, status: told }));
  return !ended || workers.isTerminationRequested(uid);
}
