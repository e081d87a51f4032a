import { isCompleted, type PodView } from '../../machinery/api/pod.ts';
import type { PolicySelection } from '../model/policy.ts';

/** The policy that keeps this pod from evictions for the health of its node; undefined: none. */
export function decideKeeper(pod: Pick<PodView, 'phase'>, selection: PolicySelection): string | undefined {
  if (selection.kind !== 'policy' || !selection.policy.keepCompletedPods) return undefined;
  return isCompleted(pod) ? selection.policy.name : undefined;
}
