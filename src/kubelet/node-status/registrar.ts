import { ApiError } from '../../api/api-error.ts';
import type { Node } from '../../api/node.ts';
import type { Labels } from '../../api/topology.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Turnstile } from '../turnstile.ts';
import { deriveNode, mergeRegisteredNode } from './derive-node.ts';
import { deriveNodeStatusPatch, diffNodeStatus } from './diff-node-status.ts';
import type { NodeComposer } from './node-composer.ts';

const registerBackoffMsMin = 100;
const registerBackoffMsMax = 7_000;

export interface RegistrarOptions {
  readonly name: string;
  readonly labels: Labels;
  readonly api: KubeReader & KubeWriter;
  readonly composer: NodeComposer;
  /** Bounds how many nodes of the fleet register at once. */
  readonly registrations: Turnstile;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Makes the node known to the API server, once. A node that is deleted later is not made again (kubelet `registerWithAPIServer`). */
export class Registrar {
  readonly #options: RegistrarOptions;

  constructor(options: RegistrarOptions) {
    this.#options = options;
  }

  /** Waits, tries, and so on with growing waits until it worked. Undefined when the signal aborted first. */
  async register(signal: AbortSignal): Promise<Node | undefined> {
    const { clock, registrations } = this.#options;
    let backoffMs = registerBackoffMsMin;
    while (!signal.aborted) {
      await clock.sleep(backoffMs, signal);
      backoffMs = Math.min(backoffMs * 2, registerBackoffMsMax);
      const node = await registrations.pass(() => this.#try(signal));
      if (node !== undefined) return node;
    }
    return undefined;
  }

  async #try(signal: AbortSignal): Promise<Node | undefined> {
    if (signal.aborted) return undefined;
    const { name, labels, api, composer, logger } = this.#options;
    const fresh = composer.compose(deriveNode(name, labels));
    try {
      return await api.create('nodes', fresh, { signal });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.reason === 'already-exists') return this.#reconcile(fresh, signal);
      logger.debug({ reason: error.reason }, 'the node could not be registered');
      return undefined;
    }
  }

  /** The name is taken: by this very node in an earlier life. */
  async #reconcile(fresh: Node, signal: AbortSignal): Promise<Node | undefined> {
    const { name, api, logger } = this.#options;
    try {
      const stored: Node = await api.get('nodes', { name }, { signal });
      const wanted = mergeRegisteredNode(stored, fresh);
      if (!diffNodeStatus(stored, wanted)) return stored;
      const body = deriveNodeStatusPatch(stored, wanted);
      const patch = { type: 'strategic-merge', body } as const;
      return await api.patch('nodes', { name }, patch, { signal, subresource: 'status' });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      logger.debug({ reason: error.reason }, 'the registered node could not be brought up to date');
      return undefined;
    }
  }
}
