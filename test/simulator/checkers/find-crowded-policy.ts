import type { NodeView } from '../../../src/machinery/api/node.ts';
import type { PodView } from '../../../src/machinery/api/pod.ts';
import {
  hasTaint,
  isForHealth,
  isHealthTaint,
  noExecuteTaints,
  type Taint,
} from '../../../src/machinery/api/taints.ts';
import { toleratesForever } from '../../../src/machinery/api/tolerations.ts';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { podsByNode } from '../../../src/controller/node-lifecycle.ts';
import type { Run } from '../../../src/simulator/cluster/replica.ts';

interface Addition {
  readonly node: string;
  /** The NoExecute taints for the health of the node that the write adds. */
  readonly added: readonly Taint[];
}

/**
 * Only nodes count of which every cache says that they are being emptied. A node with a health taint swaps it, or had its place before the
 * taint out-of-service.
 */
export function whyCrowded(
  policy: NodePolicy,
  { manager }: Run,
  { node, added }: Addition,
  claimsOf: (node: string) => readonly NodePolicy[],
): string | undefined {
  const max = policy.maxConcurrentEvictions ?? Infinity;
  const { nodes, pods } = manager.informers;
  const { stages } = manager.lifecycle;
  const isKept = ({ nodeName, phase }: PodView): boolean =>
    ['Succeeded', 'Failed'].includes(phase) && claimsOf(nodeName).some(({ keepCompletedPods }) => keepCompletedPods);
  const mayBeEvicted = (pod: PodView): boolean => !pod.terminating && !isKept(pod);
  const taintsOf = (view: NodeView | undefined): readonly Taint[] =>
    noExecuteTaints(view?.taints ?? []).filter(isForHealth);
  const isEmptied = (name: string): boolean => {
    const taints = taintsOf(nodes.store.get(name)).filter(({ key }) =>
      hasTaint(taintsOf(stages.nodes.get(name)), key, 'NoExecute'),
    );
    return pods.store.byIndex(podsByNode, name).some((pod) => mayBeEvicted(pod) && isEvictedBy(pod, taints));
  };
  const carried = taintsOf(stages.nodes.get(node));
  const own = pods.store.byIndex(podsByNode, node);
  const hadPlace = added.some(isHealthTaint)
    ? carried.length > 0
    : own.some((pod) => !isKept(pod) && isEvictedBy(pod, carried));
  if (hadPlace || !own.some((pod) => mayBeEvicted(pod) && isEvictedBy(pod, added))) return undefined;
  const emptied = [...nodes.store.keys()].filter(
    (name) => name !== node && claimsOf(name).includes(policy) && isEmptied(name),
  );
  return emptied.length >= max ? `${emptied.join(', ')} of its policy are being emptied` : undefined;
}

function isEvictedBy({ tolerations }: PodView, taints: readonly Taint[]): boolean {
  return taints.some((taint) => !toleratesForever(tolerations, taint));
}
