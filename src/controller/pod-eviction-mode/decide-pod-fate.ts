import { type DaemonSetView, selectsLabels } from '../../machinery/api/daemonset.ts';
import type { PodView } from '../../machinery/api/pod.ts';

export type PodFate =
  | { readonly fate: 'leaves' }
  /** Already terminating; only its kubelet can complete that. */
  | { readonly fate: 'terminating' }
  /** Its DaemonSet would create it again on the same node at once. */
  | { readonly fate: 'spared'; readonly daemonSet: string };

type Candidate = Pick<PodView, 'namespace' | 'labels' | 'terminating' | 'deletionGraceSeconds'>;

/**
 * What happens to a pod when its node is evicted (upstream `DeletePods`, in its order). Pods of a DaemonSet are
 * recognized by its selector in the pod's namespace, whatever their owner reference.
 */
export function decidePodFate(pod: Candidate, daemonSets: Iterable<DaemonSetView>): PodFate {
  if (pod.terminating || pod.deletionGraceSeconds !== undefined) return { fate: 'terminating' };
  for (const daemonSet of daemonSets) {
    if (daemonSet.namespace === pod.namespace && selectsLabels(daemonSet, pod.labels))
      return { fate: 'spared', daemonSet: daemonSet.name };
  }
  return { fate: 'leaves' };
}
