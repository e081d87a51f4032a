import { ApiError } from '../../../machinery/api/api-error.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import type { KubeReader } from '../../../machinery/ports/kube-reader.ts';
import type { PodAdmission } from '../machine/decide-pressure-admission.ts';
import { decideNodeFit } from './decide-node-fit.ts';

export interface PodAdmitterOptions {
  readonly nodeName: string;
  readonly api: Pick<KubeReader, 'get'>;
  /** The kubelet's own node as last observed, or as it would register it. */
  readonly node: () => Node;
  /** Rejects pods while the node is under resource pressure. */
  readonly pressure: { admit(pod: Pod): PodAdmission };
  /** Rejects pods while the node is shutting down. */
  readonly shutdown: { admit(): PodAdmission };
}

/** Decides whether a pod that was bound to this node may run on it (kubelet `canAdmitPod`). */
export class PodAdmitter {
  readonly #options: PodAdmitterOptions;

  constructor(options: PodAdmitterOptions) {
    this.#options = options;
  }

  /** `others`: pods that were admitted and have not terminated. Never rejects because of an API error. */
  async admit(pod: Pod, others: readonly Pod[], signal: AbortSignal): Promise<PodAdmission> {
    const { pressure, shutdown } = this.#options;
    const squeezed = pressure.admit(pod);
    if (!squeezed.admitted) return squeezed;
    const fits = await this.#fit(pod, others, signal);
    return fits.admitted ? shutdown.admit() : fits;
  }

  /**
   * The cached labels may be stale: the node is read from the API server before a pod is rejected for its node
   * affinity.
   */
  async #fit(pod: Pod, others: readonly Pod[], signal: AbortSignal): Promise<PodAdmission> {
    const fits = decideNodeFit({ pod, others, node: this.#options.node() });
    if (fits.admitted || fits.reason !== 'NodeAffinity') return fits;
    const fresh = await this.#freshNode(signal);
    return fresh === undefined ? fits : decideNodeFit({ pod, others, node: fresh });
  }

  async #freshNode(signal: AbortSignal): Promise<Node | undefined> {
    try {
      return await this.#options.api.get('nodes', { name: this.#options.nodeName }, { signal });
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }
}
