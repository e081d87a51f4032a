import type { NodeView } from '../../machinery/api/node.ts';
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import type { NodeStateEvidence } from './classify-node-state.ts';
import { healthTaintsOf } from '../tainting/decide-taints.ts';
import type { SnapshotSources } from './report-sources.ts';

export interface LeavingPods extends Pick<NodeStateEvidence, 'isEvicted' | 'hasLeavingPods'> {
  /** The pod that is due first, on the monotonic clock. Undefined in eviction mode, where the node is due. */
  readonly first: { readonly pod: string; readonly atMs: number } | undefined;
}

const noPods: LeavingPods = { first: undefined, isEvicted: false, hasLeavingPods: false };

/** Which of the pods of a node are scheduled for deletion for its health. */
export function selectLeavingPods(
  { name, taints }: Pick<NodeView, 'name' | 'taints'>,
  pods: readonly PodView[],
  { evictor, podEvictor }: Pick<SnapshotSources['stages'], 'evictor' | 'podEvictor'>,
): LeavingPods {
  if (podEvictor !== undefined) {
    const isEvicted = podEvictor.markOf(name) !== 'unmarked';
    return {
      first: undefined,
      isEvicted,
      hasLeavingPods: isEvicted && pods.some((pod) => podEvictor.fateOf(pod).fate !== 'spared'),
    };
  }
  if (healthTaintsOf(taints).length === 0) return noPods;
  let first: LeavingPods['first'];
  for (const pod of pods) {
    const key = podKey(pod);
    const atMs = evictor.timedEviction(key)?.atMs;
    if (atMs !== undefined && (first === undefined || atMs < first.atMs)) first = { pod: key, atMs };
  }
  return { first, isEvicted: false, hasLeavingPods: first !== undefined };
}
