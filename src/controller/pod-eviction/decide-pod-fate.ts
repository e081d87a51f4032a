import { type DaemonSetView, selectsLabels } from '../../api/daemonset.ts';
import type { PodView } from '../../api/pod.ts';

export type PodFate =
  | { readonly fate: 'leaves' }
  /** Somebody deleted it already; only its kubelet can finish that. */
  | { readonly fate: 'terminating' }
  /** It would be put back on the same node at once. */
  | { readonly fate: 'spared'; readonly daemonSet: string };

type Candidate = Pick<PodView, 'namespace' | 'labels' | 'terminating' | 'deletionGraceSeconds'>;

/**
 * What becomes of a pod when its node is evicted (upstream `DeletePods`, in its order). A DaemonSet's pods are known by
 * its selector in the pod's own namespace, whoever owns them.
 */
export function decidePodFate(pod: Candidate, daemonSets: Iterable<DaemonSetView>): PodFate {
  if (pod.terminating || pod.deletionGraceSeconds !== undefined) return { fate: 'terminating' };
  for (const daemonSet of daemonSets) {
    if (daemonSet.namespace === pod.namespace && selectsLabels(daemonSet, pod.labels))
      return { fate: 'spared', daemonSet: daemonSet.name };
  }
  return { fate: 'leaves' };
}
