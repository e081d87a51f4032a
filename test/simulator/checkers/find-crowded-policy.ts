import type { NodeView } from '../../../src/machinery/api/node.ts';
import type { PodView } from '../../../src/machinery/api/pod.ts';
import { hasTaint, isHealthTaint, noExecuteTaints, type Taint, taintKeys } from '../../../src/machinery/api/taints.ts';
import { toleratesForever } from '../../../src/machinery/api/tolerations.ts';
import { readyOf } from '../../../src/controller/health/assess-node.ts';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { podsByNode } from '../../../src/controller/node-lifecycle.ts';
import type { Run } from '../../../src/simulator/cluster/replica.ts';

/** Only nodes count of which every cache says that they are being emptied. A node with a taint already swaps it. */
export function whyCrowded(
  policy: NodePolicy,
  { manager }: Run,
  node: string,
  claimsOf: (node: string) => readonly NodePolicy[],
): string | undefined {
  const max = policy.maxConcurrentEvictions ?? Infinity;
  const { nodes, pods } = manager.informers;
  const { stages } = manager.lifecycle;
  const isKept = ({ nodeName, phase }: PodView): boolean =>
    ['Succeeded', 'Failed'].includes(phase) && claimsOf(nodeName).some(({ keepCompletedPods }) => keepCompletedPods);
  const mayBeEvicted = (pod: PodView): boolean => !pod.terminating && !isKept(pod);
  const taintsOf = (view: NodeView | undefined): readonly Taint[] =>
    noExecuteTaints(view?.taints ?? []).filter(isHealthTaint);
  const isEmptied = (name: string): boolean => {
    const taints = taintsOf(nodes.store.get(name)).filter(({ key }) =>
      hasTaint(taintsOf(stages.nodes.get(name)), key, 'NoExecute'),
    );
    return pods.store.byIndex(podsByNode, name).some((pod) => mayBeEvicted(pod) && isEvictedBy(pod, taints));
  };
  if (taintsOf(stages.nodes.get(node)).length > 0) return undefined;
  const next = [
    { key: isUnknownNode(stages.nodes.get(node)) ? taintKeys.unreachable : taintKeys.notReady, effect: 'NoExecute' },
  ];
  if (!pods.store.byIndex(podsByNode, node).some((pod) => mayBeEvicted(pod) && isEvictedBy(pod, next)))
    return undefined;
  const emptied = [...nodes.store.keys()].filter(
    (name) => name !== node && claimsOf(name).includes(policy) && isEmptied(name),
  );
  return emptied.length >= max ? `${emptied.join(', ')} of its policy are being emptied` : undefined;
}

function isUnknownNode(node: NodeView | undefined): boolean {
  return node !== undefined && readyOf(node) === 'Unknown';
}

function isEvictedBy({ tolerations }: PodView, taints: readonly Taint[]): boolean {
  return taints.some((taint) => !toleratesForever(tolerations, taint));
}
