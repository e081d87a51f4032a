import type { Pod } from '../../api/pod.ts';
import { podFullName } from './classify-pod.ts';

/**
 * The list that has to be told before this one, so that nobody misses the graceful deletion of a pod that has gone in the
 * meantime; undefined where none is missed. `deleting`: the pods whose deletion began since the last list, as they were
 * then. Who bears such a pod's name now comes later: two pods of one name are not in one list.
 */
export function deriveLostDeletions(pods: readonly Pod[], deleting: readonly Pod[]): readonly Pod[] | undefined {
  if (deleting.length === 0) return undefined;
  const uids = new Set(pods.map((pod) => pod.metadata.uid));
  const lost = deleting.filter((pod) => !uids.has(pod.metadata.uid));
  if (lost.length === 0) return undefined;
  const names = new Set(lost.map(podFullName));
  return [...lost, ...pods.filter((pod) => !names.has(podFullName(pod)))];
}
