import type { Node } from '../../machinery/api/node.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import { buildPodRequests } from '../kubelet/admission/decide-node-fit.ts';
import { type HostPort, listHostPorts } from '../kubelet/admission/decide-port-conflict.ts';

/** What a pod takes of a node. CPU in millicores, the other resources in their base unit. */
export interface PodDemand {
  readonly requests: ReadonlyMap<string, number>;
  /** As {@link requests}, with a usual amount for a pod that states none: for scores only. */
  readonly scored: { readonly cpu: number; readonly memory: number };
  readonly ports: readonly HostPort[];
}

/** A node, and what its pods take of it. */
export interface NodeLoad {
  readonly name: string;
  readonly node: Node;
  readonly pods: readonly PodDemand[];
}

/** Upstream `DefaultMilliCPURequest` and `DefaultMemoryRequest`. */
const usualCpuMillis = 100;
const usualMemoryBytes = 200 * 1_024 * 1_024;

export function demandOf(pod: Pod): PodDemand {
  const requests = buildPodRequests(pod);
  const scored = { cpu: requests.get('cpu') || usualCpuMillis, memory: requests.get('memory') || usualMemoryBytes };
  return { requests, scored, ports: listHostPorts(pod) };
}
