import type { Node } from '../../machinery/api/node.ts';
import { keyOf } from '../../machinery/api/object-key.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import type { Informer } from '../../machinery/informer/informer.ts';
import { buildPodRequests } from '../kubelet/admission/decide-node-fit.ts';
import { type HostPort, listHostPorts } from '../kubelet/admission/decide-port-conflict.ts';
import { hasEnded } from '../kubelet/pod-config/classify-pod.ts';
import { nodeIndex } from '../kubelet/pod-config/pod-router.ts';

/** Demand of a pod on a node. CPU in millicores, the other resources in their base unit. */
export interface PodDemand {
  readonly requests: ReadonlyMap<string, number>;
  /** Requests with a usual amount for a pod that states none: for scores only. */
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

/** After this time without the binding in the informer, it counts as not made. */
export const assumedMsMax = 30_000;

interface Assumed {
  readonly uid: string;
  readonly nodeName: string;
  readonly demand: PodDemand;
  readonly untilMs: number;
}

export class NodeLoads {
  readonly #nodes: Informer<Node>;
  readonly #pods: Informer<Pod>;
  /** By pod key. */
  readonly #assumed = new Map<string, Assumed>();
  /** A pod object does not change: a new version is another object. */
  readonly #demands = new WeakMap<Pod, PodDemand>();

  constructor(nodes: Informer<Node>, pods: Informer<Pod>) {
    this.#nodes = nodes;
    this.#pods = pods;
  }

  /** In the order of names, so that equal states lead to equal placements. */
  all(nowMs: number): readonly NodeLoad[] {
    const assumed = this.#assumedByNode(nowMs);
    const nodes = [...this.#nodes.store.values()].map((node) => ({ name: node.metadata.name ?? '', node }));
    nodes.sort((a, b) => (a.name < b.name ? -1 : 1));
    return nodes.map(({ name, node }) => {
      // A pod that has ended takes nothing of its node.
      const running = this.#pods.store.byIndex(nodeIndex, name).filter((pod) => !hasEnded(pod));
      return { name, node, pods: [...running.map((pod) => this.demand(pod)), ...(assumed.get(name) ?? [])] };
    });
  }

  demand(pod: Pod): PodDemand {
    const known = this.#demands.get(pod);
    if (known !== undefined) return known;
    const demand = demandOf(pod);
    this.#demands.set(pod, demand);
    return demand;
  }

  /** The pod is being bound to this node: it counts there before the informer shows it. */
  assume(pod: Pod, nodeName: string, nowMs: number): void {
    const { uid = '' } = pod.metadata;
    this.#assumed.set(keyOf(pod.metadata), { uid, nodeName, demand: this.demand(pod), untilMs: nowMs + assumedMsMax });
  }

  /** For how long it still counts where it is being bound, in milliseconds; 0 if it does not. */
  assumedForMs({ metadata }: Pod, nowMs: number): number {
    const assumed = this.#assumed.get(keyOf(metadata));
    return assumed?.uid === metadata.uid ? Math.max(0, (assumed?.untilMs ?? 0) - nowMs) : 0;
  }

  /** The binding failed, or the informer shows it, or the pod is gone. */
  forget(key: string): void {
    this.#assumed.delete(key);
  }

  #assumedByNode(nowMs: number): ReadonlyMap<string, readonly PodDemand[]> {
    const byNode = new Map<string, PodDemand[]>();
    for (const [key, { nodeName, demand, untilMs }] of this.#assumed) {
      if (untilMs <= nowMs) this.#assumed.delete(key);
      else byNode.set(nodeName, [...(byNode.get(nodeName) ?? []), demand]);
    }
    return byNode;
  }
}
