import { ownValue } from '../../machinery/api/json-map.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import { parseQuantityNano } from '../../machinery/api/quantity.ts';
import { taintKeys } from '../../machinery/api/taints.ts';
import { tolerates } from '../../machinery/api/tolerations.ts';
import { hasUntoleratedTaint } from '../kubelet/admission/decide-node-fit.ts';
import { decideNodeMatch } from '../kubelet/admission/decide-node-match.ts';
import { arePortsTaken } from '../kubelet/admission/decide-port-conflict.ts';
import type { NodeLoad, PodDemand } from './node-loads.ts';

type Placement =
  | { readonly kind: 'node'; readonly name: string }
  /** No node fits; the message is that of kube-scheduler, without what it tries by preemption. */
  | { readonly kind: 'unschedulable'; readonly message: string };

/** The node with the best score among those that fit. `draw`, from 0 to below 1, decides between equal ones. */
export function selectNode(pod: Pod, demand: PodDemand, loads: readonly NodeLoad[], draw: number): Placement {
  if (loads.length === 0) return { kind: 'unschedulable', message: 'no nodes available to schedule pods' };
  const reasons = new Map<string, number>();
  let best: { readonly score: number; readonly names: string[] } = { score: -1, names: [] };
  for (const load of loads) {
    const unfit = decideFit(pod, demand, load);
    for (const reason of unfit) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    if (unfit.length > 0) continue;
    const score = scoreNode(demand, load);
    if (score > best.score) best = { score, names: [load.name] };
    else if (score === best.score) best.names.push(load.name);
  }
  const name = best.names[Math.floor(draw * best.names.length)];
  if (name !== undefined) return { kind: 'node', name };
  return { kind: 'unschedulable', message: describeReasons(loads.length, reasons) };
}

function describeReasons(nodes: number, reasons: ReadonlyMap<string, number>): string {
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).toSorted();
  return `0/${nodes} nodes are available: ${counted.join(', ')}.`;
}

const unscheduling: readonly string[] = ['NoSchedule', 'NoExecute'];
const osLabel = 'kubernetes.io/os';

/**
 * Why the pod does not fit this node, in the words of kube-scheduler; empty if it fits. As there, the first check that
 * fails decides, and only missing resources are several reasons (kube-scheduler's default filter plugins, in their order).
 */
export function decideFit(pod: Pod, demand: PodDemand, load: NodeLoad): readonly string[] {
  if (!toleratesUnschedulable(pod, load)) return ['node(s) were unschedulable'];
  if (hasUntoleratedTaint(pod, load.node, unscheduling)) return ['node(s) had untolerated taint(s)'];
  if (!decideNodeMatch(pod, load.node)) return ["node(s) didn't match Pod's node affinity/selector"];
  if (!matchesOs(pod, load)) return ["node(s) didn't match the operating system of the pod"];
  if (load.pods.some(({ ports }) => arePortsTaken(demand.ports, ports)))
    return ["node(s) didn't have free ports for the requested pod ports"];
  return missingResources(demand, load);
}

function toleratesUnschedulable({ spec }: Pod, { node }: NodeLoad): boolean {
  if (node.spec?.unschedulable !== true) return true;
  const taint = { key: taintKeys.unschedulable, effect: 'NoSchedule' };
  return (spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

/** kube-scheduler leaves this to the kubelet, which rejects the pod. */
function matchesOs({ spec }: Pod, { node }: NodeLoad): boolean {
  const has = node.metadata.labels?.[osLabel];
  return spec?.os === undefined || has === undefined || has === spec.os.name;
}

function missingResources({ requests }: PodDemand, load: NodeLoad): readonly string[] {
  const tooMany = load.pods.length + 1 > allocatable(load, 'pods') ? ['Too many pods'] : [];
  const missing = [...requests].filter(([resource, amount]) => {
    return amount > 0 && amount > allocatable(load, resource) - takenOf(load, resource);
  });
  return [...tooMany, ...missing.map(([resource]) => `Insufficient ${resource}`)];
}

function takenOf({ pods }: NodeLoad, resource: string): number {
  return pods.reduce((sum, { requests }) => sum + (requests.get(resource) ?? 0), 0);
}

/** CPU in millicores, the others in their base unit. */
function allocatable({ node }: NodeLoad, resource: string): number {
  const nano = parseQuantityNano(ownValue(node.status?.allocatable, resource)) ?? 0n;
  return Number(nano / (resource === 'cpu' ? 1_000_000n : 1_000_000_000n));
}

/**
 * The free share of CPU and memory after the pod, in percent, on average (upstream `leastResourceScorer`). A pod without
 * requests counts with a usual amount, so that such pods are spread too.
 */
export function scoreNode({ scored }: PodDemand, load: NodeLoad): number {
  const free = (['cpu', 'memory'] as const).map((resource) => {
    const capacity = allocatable(load, resource);
    const taken = load.pods.reduce((sum, pod) => sum + pod.scored[resource], scored[resource]);
    return capacity === 0 || taken > capacity ? 0 : Math.floor(((capacity - taken) * 100) / capacity);
  });
  return Math.floor(free.reduce((sum, share) => sum + share, 0) / free.length);
}
