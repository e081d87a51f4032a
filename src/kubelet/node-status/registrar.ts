import { ApiError } from '../../api/api-error.ts';
import type { Node } from '../../api/node.ts';
import type { Labels } from '../../api/topology.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Logger } from '../../ports/logger.ts';
import type { KubeletProfile } from '../profile.ts';
import type { Turnstile } from '../turnstile.ts';
import { deriveNode, mergeRegisteredNode } from './derive-node.ts';
import { deriveNodeStatusPatch } from './diff-node-status.ts';
import type { NodeComposer } from './node-composer.ts';

const registerBackoffMsMin = 100;
const registerBackoffMsMax = 7_000;

export interface RegistrarOptions {
  readonly name: string;
  readonly labels: Labels;
  readonly profile: KubeletProfile;
  readonly api: KubeReader & KubeWriter;
  readonly composer: NodeComposer;
  /** Bounds how many nodes of the fleet register at once. */
  readonly registrations: Turnstile;
  /** Called before the node is put together for a try: what is known of it then is told with it. */
  readonly beforeTry?: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Registration {
  readonly node: Node;
  /** False for one that was there before. */
  readonly created: boolean;
}

/** Makes the node known to the API server, once. A node that is deleted later is not made again (kubelet `registerWithAPIServer`). */
export class Registrar {
  readonly #options: RegistrarOptions;

  constructor(options: RegistrarOptions) {
    this.#options = options;
  }

  /** Waits, tries, and so on with growing waits until it worked. Undefined when the signal aborted first. */
  async register(signal: AbortSignal): Promise<Registration | undefined> {
    const { clock, registrations } = this.#options;
    let backoffMs = registerBackoffMsMin;
    while (!signal.aborted) {
      await clock.sleep(backoffMs, signal);
      backoffMs = Math.min(backoffMs * 2, registerBackoffMsMax);
      const registration = await registrations.pass(() => this.#try(signal));
      if (registration !== undefined) return registration;
    }
    return undefined;
  }

  async #try(signal: AbortSignal): Promise<Registration | undefined> {
    if (signal.aborted) return undefined;
    const { name, labels, profile, api, composer, clock, beforeTry } = this.#options;
    beforeTry?.();
    const fresh = await composer.compose(deriveNode({ name, labels, profile, nowMs: clock.nowMs() }));
    try {
      return { node: await api.create('nodes', fresh, { signal }), created: true };
    } catch (error) {
      if (isReason(error, 'already-exists')) return this.#adopt(fresh, signal);
      this.#expect(error, 'the node could not be registered');
      return undefined;
    }
  }

  /** The name is taken: by this very node in an earlier life. */
  async #adopt(fresh: Node, signal: AbortSignal): Promise<Registration | undefined> {
    const { name, api } = this.#options;
    try {
      const stored: Node = await api.get('nodes', { name }, { signal });
      if (this.#isSomebodyElses(stored)) return await this.#replace(stored, signal);
      const wanted = mergeRegisteredNode(stored, fresh);
      if (wanted === stored) return { node: stored, created: false };
      const patch = { type: 'strategic-merge', body: deriveNodeStatusPatch(stored, wanted) } as const;
      const node = await api.patch('nodes', { name }, patch, { signal, subresource: 'status' });
      return { node, created: false };
    } catch (error) {
      this.#expect(error, 'the registered node could not be brought up to date');
      return undefined;
    }
  }

  /** Kubelets of old knew their machine by its external id. */
  #isSomebodyElses(stored: Node): boolean {
    const { name, profile } = this.#options;
    return profile.kind === 'classic' && stored.spec?.externalID !== name;
  }

  /** What was another machine's goes; the next try registers ours. */
  async #replace(stored: Node, signal: AbortSignal): Promise<undefined> {
    const { name, api } = this.#options;
    await api.delete('nodes', { name }, { uid: stored.metadata.uid ?? '', signal });
  }

  /** What the API server may answer is part of the day; anything else is a defect and goes up. */
  #expect(error: unknown, what: string): void {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason !== 'aborted') this.#options.logger.debug({ reason: error.reason }, what);
  }
}

function isReason(error: unknown, reason: string): boolean {
  return error instanceof ApiError && error.reason === reason;
}
