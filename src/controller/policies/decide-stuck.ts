// Pods whose deletion only a kubelet could complete that is not there.
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import type { NodePolicy, StuckPod } from '../model/policy.ts';

/**
 * Whether a pod has been terminating for longer than its grace period and the time of a policy, of several the shortest, on a node
 * that is not Ready. The API server puts the end of the grace period into `deletionTimestamp`.
 */
export function decideStuck(
  pod: Pick<PodView, 'deletionAtSeconds'>,
  node: Pick<NodeView, 'conditions'> | undefined,
  claims: readonly Pick<NodePolicy, 'name' | 'terminatingTimeoutMs'>[],
  wallMs: number,
): StuckPod | undefined {
  if (pod.deletionAtSeconds === undefined || node === undefined || isReady(node)) return undefined;
  const overdueSinceMs = pod.deletionAtSeconds * 1_000;
  const [first] = claims
    .flatMap(({ name, terminatingTimeoutMs: ms }) => (ms === undefined ? [] : [{ policy: name, ms }]))
    .toSorted((a, b) => a.ms - b.ms);
  if (first === undefined || wallMs - overdueSinceMs < first.ms) return undefined;
  return { policy: first.policy, overdueSinceMs };
}

export function isReady({ conditions }: Pick<NodeView, 'conditions'>): boolean {
  return findCondition(conditions, 'Ready')?.status === 'True';
}
