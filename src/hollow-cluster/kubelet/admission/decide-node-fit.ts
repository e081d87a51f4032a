import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import { parseQuantityNano } from '../../../machinery/api/quantity.ts';
import { tolerates } from '../../../machinery/api/tolerations.ts';
import type { PodAdmission } from '../machine/decide-pressure-admission.ts';
import { isStaticPod } from '../pod-config/classify-pod.ts';
import { sumAmounts } from '../pod-status/build-pod-resources.ts';
import { decideNodeMatch } from './decide-node-match.ts';
import { hasPortConflict } from './decide-port-conflict.ts';

interface FitFacts {
  readonly pod: Pod;
  /** The other pods that were admitted and have not terminated. */
  readonly others: readonly Pod[];
  readonly node: Node;
}

/** Resources that every node has. All others exist only on nodes whose device plugins report them. */
const nativeResources: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

const admitted: PodAdmission = { admitted: true };

/**
 * Checks whether the pod can run on this node: operating system, resources, node affinity, host ports, taints. Reports
 * the first check that fails (kubelet `lifecycle.predicateAdmitHandler`).
 */
export function decideNodeFit({ pod, others, node }: FitFacts): PodAdmission {
  const refused = decideOsFit(pod, node) ?? decideRoom(pod, others, node);
  if (refused !== undefined) return refused;
  if (!decideNodeMatch(pod, node)) {
    return refuse('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  }
  if (hasPortConflict(pod, others)) {
    return refuse('NodePorts', "node(s) didn't have free ports for the requested pod ports");
  }
  if (!isStaticPod(pod) && hasUntoleratedTaint(pod, node, ['NoExecute'])) {
    return refuse('TaintToleration', "node(s) had taints that the pod didn't tolerate");
  }
  return admitted;
}

function refuse(predicate: string, message: string): PodAdmission {
  return { admitted: false, reason: predicate, message: `Predicate ${predicate} failed: ${message}` };
}

/** True if the node has a taint with one of these effects that the pod does not tolerate. */
export function hasUntoleratedTaint({ spec }: Pod, node: Node, effects: readonly string[]): boolean {
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effects.includes(effect));
  return taints.some((taint) => !(spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint)));
}

/** An extended resource that the node does not report is ignored: its device plugin may not have registered yet. */
function decideRoom(pod: Pod, others: readonly Pod[], node: Node): PodAdmission | undefined {
  const allocatable = node.status?.allocatable ?? {};
  const podsMax = parseRequest('pods', allocatable['pods']);
  if (others.length + 1 > podsMax) return outOf('pods', 1, others.length, podsMax);
  const used = others.map(buildPodRequests);
  for (const [resource, requested] of sorted(buildPodRequests(pod))) {
    if (requested === 0 || (!nativeResources.includes(resource) && ownValue(allocatable, resource) === undefined))
      continue;
    const capacity = parseRequest(resource, ownValue(allocatable, resource));
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

/**
 * The requests of a pod by resource: CPU in millicores, the others in their base unit (upstream
 * `resourcehelper.PodRequests`).
 */
export function buildPodRequests(pod: Pod): ReadonlyMap<string, number> {
  return new Map([...sumAmounts(pod, 'requests')].map(([name, nano]) => [name, toInteger(name, nano)]));
}

/** A quantity as an integer that can be compared and summed; 0 if it is absent or invalid. */
function parseRequest(resource: string, quantity: string | undefined): number {
  return toInteger(resource, parseQuantityNano(quantity) ?? 0n);
}

/** Rounded up. */
function toInteger(resource: string, nano: bigint): number {
  const unit = resource === 'cpu' ? 1_000_000n : 1_000_000_000n;
  return Number((nano + unit - 1n) / unit);
}

const osLabel = 'kubernetes.io/os';
const linux = 'linux';

/**
 * The rejection of a pod for another operating system than the node's: by the pod's own label `kubernetes.io/os`, then
 * by `spec.os`. Undefined: it may run here (kubelet `rejectPodAdmissionBasedOnOSSelector`, `...OSField`).
 */
function decideOsFit({ metadata, spec }: Pod, node: Node): PodAdmission | undefined {
  const os = osOf(node);
  if ((metadata.labels?.[osLabel] ?? os) !== os) {
    return refuseOs('PodOSSelectorNodeLabelDoesNotMatch', "the `kubernetes.io/os` label doesn't match node label");
  }
  if ((spec?.os?.name ?? os) !== os) return refuseOs('PodOSNotSupported', "the OS field doesn't match node OS");
  return undefined;
}

/** Operating system as the kubelet reports it; the node's label may have been changed by others. */
function osOf({ status }: Node): string {
  return status?.nodeInfo?.operatingSystem ?? linux;
}

function refuseOs(reason: string, why: string): PodAdmission {
  return { admitted: false, reason, message: `Failed to admit pod as ${why}` };
}
