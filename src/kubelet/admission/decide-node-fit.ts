import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import { noExecuteTaints } from '../../api/taints.ts';
import { tolerates } from '../../api/tolerations.ts';
import type { PodAdmission } from '../machine/decide-pressure-admission.ts';
import { isStaticPod } from '../pod-config/classify-pod.ts';
import { decideNodeMatch } from './decide-node-match.ts';
import { deriveAmount, derivePodRequests, nativeResources } from './derive-pod-requests.ts';

export interface FitFacts {
  readonly pod: Pod;
  /** The other pods that have been let in and have not ended. */
  readonly others: readonly Pod[];
  readonly node: Node;
}

const admitted: PodAdmission = { admitted: true };

/**
 * Would the scheduler have put this pod here? Room first, then whether the pod wants this node, then whether it bears its
 * taints; the first that fails is told (kubelet `lifecycle.generalFilter`).
 */
export function decideNodeFit({ pod, others, node }: FitFacts): PodAdmission {
  const crowded = decideRoom(pod, others, node);
  if (crowded !== undefined) return crowded;
  if (!decideNodeMatch(pod, node)) {
    return refuse('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  }
  if (!isStaticPod(pod) && hasUntoleratedTaint(pod, node)) {
    return refuse('TaintToleration', "node(s) had taints that the pod didn't tolerate");
  }
  return admitted;
}

function refuse(predicate: string, message: string): PodAdmission {
  return { admitted: false, reason: predicate, message: `Predicate ${predicate} failed: ${message}` };
}

function hasUntoleratedTaint(pod: Pod, node: Node): boolean {
  const tolerations = pod.spec?.tolerations ?? [];
  return noExecuteTaints(node.spec?.taints ?? []).some(
    (taint) => !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** A resource that only this pod speaks of is not held against it: its plugin may not be there yet. */
function decideRoom(pod: Pod, others: readonly Pod[], node: Node): PodAdmission | undefined {
  const allocatable = node.status?.allocatable ?? {};
  const podsMax = deriveAmount('pods', allocatable['pods']);
  if (others.length + 1 > podsMax) return outOf('pods', 1, others.length, podsMax);
  const used = others.map(derivePodRequests);
  for (const [resource, requested] of sorted(derivePodRequests(pod))) {
    if (requested === 0 || (!nativeResources.includes(resource) && allocatable[resource] === undefined)) continue;
    const capacity = deriveAmount(resource, allocatable[resource]);
    const taken = used.reduce((sum, requests) => sum + (requests.get(resource) ?? 0), 0);
    if (requested > capacity - taken) return outOf(resource, requested, taken, capacity);
  }
  return undefined;
}

/** The native resources in their order, then the others by name. */
function sorted(requests: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  const others = [...requests.keys()].filter((name) => !nativeResources.includes(name)).sort();
  return [...nativeResources, ...others].map((name) => [name, requests.get(name) ?? 0]);
}

function outOf(resource: string, requested: number, used: number, capacity: number): PodAdmission {
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  const message = `Node didn't have enough resource: ${resource}, ${amounts}`;
  return { admitted: false, reason: `OutOf${resource}`, message };
}
